; 128 registers for each of 1024 threads are more than an SM has.
kernel @never .target sm_80 .maxntid 1024 .maxnreg 128 {
entry:
  %x: R = MOV 1
  STG.E [%x], %x
  EXIT
}

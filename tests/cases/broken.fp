kernel @broken {
entry:
  %x: R = MOV %y
  %z: R9q = MOV 1
  EXIT
}

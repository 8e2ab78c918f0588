kernel @k {
e:
 %x: P = ISETP.GE 1, 2
 br %x, a, b
a:
 %y: R = MOV 1
 jump b
b:
 STG.E [%y], %y
 EXIT
}

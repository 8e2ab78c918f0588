; c[i] = a[i] + b[i]
kernel @vadd .target sm_89 {
entry:
  %block: R   = S2R SR_CTAID.X  #1
  %tid: R     = S2R SR_TID.X  #1
  %i: R       = IMAD %block, c[0][0x0], %tid  #1
  %p: P       = ISETP.GE %i, c[0][0x178]  #2
  br %p, exit, body  #2
body:
  %a: R2      = IMAD.WIDE %i, 4, c[0][0x160]  #3
  %x: R       = LDG.E [%a]  #3
  %b: R2      = IMAD.WIDE %i, 4, c[0][0x168]  #4
  %y: R       = LDG.E [%b]  #4
  %s: R       = FADD %x, %y  #5
  %c: R2      = IMAD.WIDE %i, 4, c[0][0x170]  #6
  STG.E [%c], %s  #6
  jump exit  #6
exit:
  EXIT  #7
}

; A dot product of n elements: the accumulator and both addresses live through the loop.
kernel @dot .target sm_80 .reqntid 128 {
entry:
  %tid: R      = S2R SR_TID.X  #1
  %n: R        = MOV c[0][0x170]  #1
  %a: R2       = IMAD.WIDE %tid, 4, c[0][0x160]  #2
  %b: R2       = IMAD.WIDE %tid, 4, c[0][0x168]  #3
  %scale: R    = MOV c[0][0x174]  #4
  %zero: R     = MOV 0  #5
  jump loop(%zero, %zero)  #5
loop(%i: R, %acc: R) .trip 64:
  %x: R        = LDG.E [%a]  #7
  %y: R        = LDG.E [%b]  #7
  %sum: R      = FFMA %x, %y, %acc  #7
  %next: R     = IADD %i, 1  #6
  %more: P     = ISETP.LT %next, %n  #6
  br %more, loop(%next, %sum), done  #6
done:
  %out: R2     = IMAD.WIDE %tid, 4, c[0][0x178]  #9
  %r: R        = FMUL %sum, %scale  #9
  STG.E [%out], %r  #9
  EXIT  #10
}

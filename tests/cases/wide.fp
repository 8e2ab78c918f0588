; Quads want aligned registers; the floor is set by the instruction with two of them.
kernel @wide .target sm_90 .maxntid 256 .minnctapersm 8 {
entry:
  %tid: R   = S2R SR_TID.X  #1
  %p: R2    = IMAD.WIDE %tid, 16, c[0][0x210]  #2
  %q: R4    = LDG.E.128 [%p]  #3
  %r: R4    = LDG.E.128 [%p+0x1000]  #4
  %s: R4    = HMMA.FAKE %q, %r  #5
  STG.E.128 [%p], %s  #6
  STG.E.128 [%p+0x2000], %q  #7
  EXIT  #8
}

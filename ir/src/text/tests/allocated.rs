//! The allocated form: expected text, errors.

use crate::assigned::{AllocatedFunction, Edit, EditPoint, Loc, Side, SlotSpace};
use crate::class::PhysReg;
use crate::entity::EntityId;
use crate::function::{Edge, Inst};
use crate::text::{is_allocated, parse_allocated, print_allocated, AllocatedParts};

const TEXT: &str = "allocated kernel @k .smem 8 .local_slots 2 {
; highest registers: R9 P0
entry(%n: R@R2):
  [i1] %p: P@P0       = ISETP.GE %n@R2, c[0][0x8]
  copy R3 <- R2
  swap R3, R4
  [i0] %x: R2@(R4, R9) = MOV 1
  after spill local[0] <- R4
  [i2] br %p@P0, body(%x, undef), exit
  on entry -> body (0):
    reload R5 <- local[0]
    slotcopy local[1] <- local[0]
body(%y: R2@(R5, -), %z: R@shared[3]):
  remat i0 (R6, -) <- ()
  [i3] @!%p@P0 STG [%x@(R4, R9)+0x10], {%y.1, undef}:2@-, |%z@R7|{fixed R7}  #4
  [i4] jump exit
exit:
  [i5] EXIT
}
";

#[test]
fn the_example_is_canonical() {
    assert!(is_allocated(TEXT) && is_allocated("; c\n allocated kernel"));
    let mut all = parse_allocated(TEXT).expect("the text is right");
    let (f, parts) = all.pop().expect("one kernel");
    let a: AllocatedFunction<'_> = parts.attach(&f);
    assert_eq!(print_allocated(&a), TEXT);
    assert_eq!(a.order, Some(vec![Inst(1), Inst(0), Inst(2), Inst(3), Inst(4), Inst(5)]));
    assert_eq!(a.inst_locs(Inst(0)), [Loc::reg(PhysReg::r(4)), Loc::reg(PhysReg::r(9))]);
    assert_eq!(a.param_locs[3], Loc::slot(SlotSpace::Shared, 3));
    assert_eq!((a.local_slots, a.shared_slots), (2, 0));
    let before = EditPoint { pos: 1, side: Side::Before };
    assert_eq!(a.edits_at(before).len(), 2);
    assert_eq!(a.edits_at(EditPoint { pos: 1, side: Side::After }).len(), 1);
    assert_eq!(a.edits_on(Edge(0))[0].1, Edit::Reload { from: Loc::slot(SlotSpace::Local, 0), to: PhysReg::r(5) });
    assert_eq!(AllocatedParts::of(&a), parts);
}

fn errors(text: &str) -> Vec<String> {
    let list = parse_allocated(text).expect_err("the text is wrong");
    list.iter().map(|e| format!("{}:{} `{}`: {}", e.line, e.column, &text[e.span.clone()], e.message)).collect()
}

fn changed(from: &str, to: &str) -> Vec<String> {
    assert_eq!(TEXT.matches(from).count(), 1, "{from}");
    errors(&TEXT.replace(from, to))
}

#[test]
fn mistakes_are_pointed_at() {
    assert_eq!(changed("%n@R2, c", "%n, c"), ["4:36 `,`: expected the location of the operand, found `,`"]);
    assert_eq!(changed("[i3] @", "@"), ["15:3 `@`: expected an instruction, a block or `}`, found `@`"]);
    assert_eq!(changed("[i3]", "[i4]"), ["15:16 `STG`: this is instruction i3 in linear order, not i4"]);
    assert_eq!(changed("[i3]", "[3]"), ["15:4 `3`: expected an instruction's number like `i12`, found `3`"]);
    assert_eq!(changed("%x: R2@(R4, R9)", "%x: R2@(R4, R9, R1)"), ["7:8 `%x`: 3 locations for 2 lanes"]);
    assert_eq!(changed("%x: R2@(R4, R9)", "%x: R2@R65535"), ["7:8 `%x`: `@R65535` does not begin 2 registers"]);
    assert_eq!(changed("%x: R2@(R4, R9)", "%x: R2@local[1]"), ["7:8 `%x`: `@local[1]` does not begin 2 registers"]);
    assert_eq!(changed("remat i0", "remat i6"), ["14:3 `remat`: there is no instruction i6"]);
    assert_eq!(
        changed("remat i0 (R6, -)", "remat i0 (R6, local[0])"),
        ["14:12 `(R6, local[0])`: an instruction defines registers, not slots"]
    );
    assert_eq!(changed("swap R3, R4", "move R3, R4"), ["6:3 `move`: unknown edit `move`"]);
    assert_eq!(changed("on entry -> body (0)", "on entry -> body (1)"), ["10:15 `body`: successor 1 is not `body`"]);
    assert_eq!(
        changed("on entry -> body (0)", "on body -> body (0)"),
        ["10:6 `body`: the edge leaves block `body`, it stands in another"]
    );
    assert_eq!(
        changed("  [i5] EXIT\n", "  [i5] EXIT\n  copy R1 <- R2\n"),
        ["19:3 `copy`: no instruction follows this edit"]
    );
    assert_eq!(
        changed("exit:\n", "exit:\n  after copy R1 <- R2\n"),
        ["18:3 `after`: `after` stands right behind an instruction"]
    );
    assert_eq!(
        changed("local[0] <- R4", "local[536870912] <- R4")[0].split(": ").nth(1),
        Some("a slot number of 536870912 is out of range, at most 536870911")
    );
}

#[test]
fn an_order_that_leaves_its_blocks_is_said_and_refused() {
    let (f, parts) = parse_allocated(TEXT).expect("the text is right").pop().expect("one kernel");
    let mut a = parts.attach(&f);
    a.order = Some([0, 3, 2, 1, 4, 5].map(Inst::new).to_vec());
    let text = print_allocated(&a);
    assert!(text.contains("; invalid: the order takes instructions out of block entry"), "{text}");
    assert!(parse_allocated(&text).is_err());
}

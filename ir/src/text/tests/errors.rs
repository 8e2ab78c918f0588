//! Every error with its line, column and the text that it points at.

use crate::text::{parse, parse_allocated, MAX_ERRORS};

/// `line:column text: message` of every error.
fn errors(text: &str) -> Vec<String> {
    let list = parse(text).expect_err("the text is wrong");
    list.iter().map(|e| format!("{}:{} `{}`: {}", e.line, e.column, &text[e.span.clone()], e.message)).collect()
}

/// Errors of statements within a block that starts on line 3; `%a: R` and `%q: R4` stand on line 3, the statements from
/// line 4 on, EXIT follows.
fn body(statements: &str) -> Vec<String> {
    errors(&format!("kernel @k {{\ne:\n%a: R, %q: R4, %p: P = A\n{statements}\nEXIT\n}}\n"))
}

#[test]
fn unknown_things() {
    assert_eq!(body("X %a, %nope, %a"), ["4:7 `%nope`: value `%nope` is never defined"]);
    assert_eq!(body("X {%a, %no.1}"), ["4:8 `%no.1`: value `%no` is never defined"]);
    assert_eq!(body("X %a'1"), ["4:3 `%a'1`: value `%a'1` is never defined"]);
    assert_eq!(body("X @sub"), ["4:3 `@sub`: no region is called `@sub`"]);
    let e = errors("kernel @k {\ne:\n  jump gone\n}");
    assert_eq!(e, ["3:8 `gone`: no block is called `gone`"]);
}

#[test]
fn redefinitions() {
    assert_eq!(body("%a: R = X"), ["4:1 `%a`: value `%a` is defined twice"]);
    let text = "kernel @k {\ne:\n jump f\nf(%x: R2):\n %x: R = X\n jump f\nf: EXIT\n}";
    assert_eq!(
        errors(text),
        [
            "3:7 `f`: block `f` takes 2 argument lanes, 0 given",
            "5:2 `%x`: value `%x` is defined twice",
            "6:7 `f`: block `f` takes 2 argument lanes, 0 given",
            "7:1 `f`: block `f` is defined twice",
        ]
    );
    let list = parse(text).expect_err("two definitions");
    assert_eq!(list[0].hint.as_deref(), Some("the block begins on line 4"));
    assert_eq!(list[1].hint.as_deref(), Some("first defined on line 4"));
}

#[test]
fn lanes() {
    assert_eq!(body("X %q.4"), ["4:3 `%q.4`: value `%q` has 4 lanes, there is no lane 4"]);
    assert_eq!(body("X %a.1"), ["4:3 `%a.1`: value `%a` has 1 lane, there is no lane 1"]);
    assert_eq!(body("X {%a, %p}"), ["4:8 `%p`: a lane of class P in a run of class R"]);
    assert_eq!(body("X %q.512"), ["4:6 `512`: a lane of 512 is out of range, at most 511"]);
    assert_eq!(body("%z: R513 = X"), ["4:6 `513`: a number of lanes of 513 is out of range, at most 512"]);
    assert_eq!(body("%z: R0 = X"), ["4:5 `R0`: a definition has at least one lane"]);
    assert_eq!(body("%z: Q = X"), ["4:5 `Q`: expected a register class, found `Q`"]);
    assert_eq!(body("%z: Rx = X"), ["4:5 `Rx`: expected a register class, found `Rx`"]);
    let many = vec!["%q"; 129].join(", ");
    assert_eq!(body(&format!("X {{{many}}}"))[0].split(": ").last(), Some("a run has at most 512 lanes"));
    assert_eq!(body("%z: R2{names(a)} = X"), ["4:1 `%z`: 1 names for 2 lanes"]);
}

#[test]
fn numbers() {
    assert_eq!(body("X 0xzz"), ["4:3 `0xzz`: `0xzz` is not a number"]);
    assert_eq!(body("X 0x"), ["4:3 `0x`: `0x` is not a number"]);
    assert_eq!(body("X 12ab"), ["4:3 `12ab`: `12ab` is not a number"]);
    assert_eq!(
        body("X 18446744073709551616"),
        ["4:3 `18446744073709551616`: `18446744073709551616` does not fit into 64 bits"]
    );
    assert_eq!(body("X -9223372036854775809"), ["4:3 `-9223372036854775809`: the number does not fit into 64 bits"]);
    assert_eq!(body("X c[4096][0]"), ["4:5 `4096`: a constant bank of 4096 is out of range, at most 4095"]);
    assert_eq!(
        body("X c[0][0x100000]"),
        ["4:8 `0x100000`: a constant offset of 1048576 is out of range, at most 1048575"]
    );
    assert_eq!(body("X %a:3"), ["4:6 `3`: alignment 3 is not a power of two up to 128"]);
    assert_eq!(body("X %a:256"), ["4:6 `256`: alignment 256 is not a power of two up to 128"]);
    assert_eq!(body("X %a{fixed R65536}"), ["4:13 `65536`: a register number of 65536 is out of range, at most 65535"]);
    assert_eq!(
        body("X #4294967296"),
        ["4:4 `4294967296`: a source line of 4294967296 is out of range, at most 4294967295"]
    );
}

#[test]
fn syntax() {
    assert_eq!(body("X %a %a"), ["4:6 `%`: expected the end of the line, found `%`"]);
    assert_eq!(body("X %a,"), ["4:6 ``: expected an operand, found the end of the line"]);
    assert_eq!(body("X |%a"), ["4:6 ``: expected the closing `|`, found the end of the line"]);
    assert_eq!(body("X [%a"), ["4:6 ``: expected `+`, `-` or `]`, found the end of the line"]);
    assert_eq!(body("X --%a"), ["4:4 `-`: `-` stands twice"]);
    assert_eq!(body("X %a{often}"), ["4:6 `often`: expected a constraint, found `often`"]);
    assert_eq!(body("X $"), ["4:4 ``: expected the name of a variable, found the end of the line"]);
    assert_eq!(body("X %\"abc"), ["4:4 `\"abc`: the quoted name has no closing quote"]);
    assert_eq!(body("X %\"a\\x\""), ["4:6 `\\`: unknown escape in a quoted name"]);
    assert_eq!(body("%z R = X"), ["4:4 `R`: expected `:` and the register class of the definition, found `R`"]);
    assert_eq!(body("%z: R X"), ["4:7 `X`: expected `,` or `=`, found `X`"]);
    assert_eq!(body("@k X"), ["4:1 `@k`: a guard is a predicate"]);
    assert_eq!(body("é X"), ["4:1 `é`: expected an instruction, a block or `}`, found `é`"]);
    assert_eq!(body("X %a é"), ["4:6 `é`: expected the end of the line, found `é`"]);
    assert_eq!(body("[i3] X"), ["4:1 `[`: expected an instruction, found `[`"]);
    assert_eq!(body("X clobbers(R4..R3)"), ["4:12 `R4..R3`: a range of registers runs upward in one class"]);
    assert_eq!(body("X foo"), ["4:3 `foo`: `X` ends no block: it has no successors"]);
    // Columns count characters.
    assert_eq!(body("X $\"äöü\", %nope"), ["4:11 `%nope`: value `%nope` is never defined"]);
}

#[test]
fn control() {
    assert_eq!(errors("kernel @k {\ne:\n br %x, e\n}"), ["3:2 `br`: `br` takes 2 successors, 1 given"]);
    assert_eq!(errors("kernel @k {\ne:\n brx 1\n}"), ["3:2 `brx`: `brx` takes at least 1 successors, 0 given"]);
    assert_eq!(errors("kernel @k {\ne:\n EXIT e\n}"), ["3:2 `EXIT`: `EXIT` takes 0 successors, 1 given"]);
    assert_eq!(errors("kernel @k {\ne:\n br e, %x\n}"), ["3:8 `%`: expected a block, found `%`"]);
    assert_eq!(errors("kernel @k {\ne:\n X\n}"), ["2:1 `e`: block `e` has no terminator"]);
    assert_eq!(errors("kernel @k {\ne:\n}"), ["2:1 `e`: block `e` has no terminator"]);
    assert_eq!(errors("kernel @k {\ne:\n EXIT\n X\n}"), ["4:2 `X`: block `e` goes on after its terminator"]);
    assert_eq!(errors("kernel @k {\n X\ne:\n EXIT\n}"), ["2:2 `X`: an instruction before the first block"]);
    assert_eq!(
        errors("kernel @k {\ne:\n EXIT\nlost:\n jump lost\n}"),
        ["4:1 `lost`: block `lost` cannot be reached from `e`"]
    );
    assert_eq!(errors("kernel @k {\n}"), ["1:1 `kernel @k`: kernel `@k` has no block"]);
    assert_eq!(errors("kernel @k {\ne:\n %x: R = EXIT\n}"), ["3:10 `EXIT`: a terminator defines nothing"]);
    assert_eq!(
        errors("kernel @k {\ne(%x: R2):\n jump e(%x.0, %x)\n}"),
        ["3:7 `e(%x.0, %x`: block `e` takes 2 argument lanes, 3 given"]
    );
    assert_eq!(errors("kernel @k {\ne(%x: R2:2):\n EXIT\n}"), ["2:9 `:2`: parameters have no alignment"]);
    assert_eq!(errors("kernel @k {\ne(%x: R{early}):\n EXIT\n}"), ["2:8 `{early}`: parameters have no constraints"]);
}

#[test]
fn regions() {
    let r = "kernel @k {\ne:\n jump x\nregion @r -> () {\nx:\n RET\n}\n}";
    assert_eq!(errors(r), ["3:7 `x`: block `x` belongs to another region"]);
    assert_eq!(errors("kernel @k {\ne: EXIT\nregion @r -> ()\n}"), ["3:8 `@r`: region `@r` has no block"]);
    assert_eq!(
        errors("kernel @k {\ne: EXIT\nregion @r {\nx: RET\n}\n}"),
        ["3:8 `@r`: region `@r` has no results list"]
    );
    let twice = "kernel @k {\ne: EXIT\nregion @r -> () { x: RET }\nregion @r -> () { y: RET }\n}";
    assert_eq!(errors(twice), ["4:8 `@r`: region `@r` is declared twice"]);
    let nested = "kernel @k {\ne: EXIT\nregion @r -> () {\nregion @s -> () {\nx: RET\n}\n}\n}";
    assert_eq!(errors(nested), ["4:8 `@s`: a region does not stand inside of a region"]);
}

#[test]
fn heads_and_braces() {
    assert_eq!(errors("kernel k {\n}"), ["1:8 `k`: expected `@` and the kernel's name, found `k`"]);
    assert_eq!(errors("func @k {\n}"), ["1:1 `func`: expected `kernel @name`, found `func`"]);
    assert_eq!(errors("kernel @k\n{\n}"), ["1:10 ``: expected an attribute or `{`, found the end of the line"]);
    assert_eq!(errors("kernel @k .foo 3 {\n}"), ["1:11 `.foo`: unknown attribute `.foo`"]);
    assert_eq!(errors("kernel @k .smem 3 .smem 3 {\n}"), ["1:19 `.smem`: attribute `.smem` stands twice"]);
    assert_eq!(errors("kernel @k {\ne:\n EXIT\n"), ["1:1 `kernel @k`: the `{` of this head is never closed"]);
    let two = "kernel @a {\ne:\n EXIT\nkernel @b {\ne:\n EXIT\n}\n";
    assert_eq!(errors(two), ["4:1 `kernel`: a kernel begins before the one above is closed"]);
    assert_eq!(
        errors("allocated kernel @k {\n}"),
        ["1:1 `allocated kernel`: this is an allocated kernel, a plain one was expected"]
    );
    let plain = parse_allocated("kernel @k {\ne: EXIT\n}").expect_err("it is plain");
    assert_eq!((plain.len(), plain[0].message.as_str()), (1, "this kernel is not allocated"));
    // Errors of several kernels and lines are collected, in text order.
    let many = "kernel @a {\ne:\n X %u\n X )\n EXIT\n}\nkernel @b {\ne:\n X %u\n EXIT\n}\nkernel ! {\nkernel @c {\ne: jump f\n}";
    let e = errors(many);
    assert_eq!(e.len(), 4, "{e:?}");
    assert!(e[0].starts_with("4:4 `)`") && e[1].starts_with("9:4 `%u`") && e[2].starts_with("12:8 `!`"));
    assert!(e[3].starts_with("14:9 `f`"));
}

#[test]
fn errors_are_capped_and_rendered() {
    let text = format!("kernel @k {{\ne:\n{}EXIT\n}}", " X %u\n".repeat(200));
    assert_eq!(parse(&text).expect_err("nothing is defined").len(), MAX_ERRORS);
    let text = format!("kernel @k {{\ne:\n{}EXIT\n}}", " X )\n".repeat(200));
    assert_eq!(parse(&text).expect_err("no operand").len(), MAX_ERRORS);

    let text = "kernel @k {\ne:\n  X %a, foo\n EXIT\n}";
    let e = parse(text).expect_err("no successor");
    assert_eq!(e[0].to_string(), "3:9: `X` ends no block: it has no successors");
    assert_eq!(
        e[0].render("k.fp", text),
        "k.fp:3:9: error: `X` ends no block: it has no successors\n    X %a, foo\n          ^^^\n  \
         help: a special register begins SR_, a variable $, a region @\n"
    );
    // A long line is shown in part.
    let long = format!("kernel @k {{\ne:\n X {}%u, {}\n EXIT\n}}", "é, ".repeat(0), "1, ".repeat(10_000) + "2");
    let shown = parse(&long).expect_err("%u is undefined")[0].render("k", &long);
    assert!(shown.len() < 400, "{shown}");
}

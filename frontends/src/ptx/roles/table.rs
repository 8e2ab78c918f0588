//! The property table: one line for each instruction form, the PTX ISA up to 9.0.
//!
//! A line is `opcode conditions : slots` or `opcode conditions ~ slots`; the first line of an opcode whose
//! conditions hold is taken. With `:` every register operand must have exactly the width of its slot
//! (arithmetic, as ptxas demands); with `~` a register's declared width wins (memory, conversion, matrix forms).
//!
//! Conditions: a word is a modifier that must be present, `!word` one that must be absent, `#n` the number of type modifiers.
//!
//! Slots, in operand order:
//!
//! | slot | meaning |
//! |---|---|
//! | `T` | use of type T |
//! | `=T` | definition; `=T\|` may be a pair `d\|p` whose second half defines a predicate |
//! | `+T` | definition that also uses the old value (accumulators of asynchronous matrix products) |
//! | `[a]`, `[a:T]`, `[a@s:T]` | address: access `r`, `w`, `rw` or `n` (no data moved), width of T, space `s` = 0 or 1 for the n-th in the mnemonic, `t` for tensor memory |
//! | `tex` | `[handle, {coordinates}]` |
//! | `#` | immediate that selects a behavior (look-up table, group number) |
//! | `L`, `X` | label, table of labels |
//! | `?slot` | may be missing; those that are there fill from the left |
//! | `slot*` | any number of these, none included |
//!
//! Types: `t` the last type modifier, `t0` `t1` … the n-th, `w` twice the width of the last, `v` `v0` … a
//! vector of `.v2`/`.v4`/`.v8` lanes of it, a type name, or `any` (what is declared; an address there is a read).

/// See the module documentation.
pub(super) const TABLE: &str = "
abs : =t t
activemask ~ =t
add #2 : =t0 t1 t0
add : =t t t
addc : =t t t
alloca ~ =t any ?#
and : =t t t
applypriority ~ [n] #
atom cas ~ =t [rw:t] t t ?any
atom ~ =v [rw:v] v ?any ?any
bar warp ~ b32
bar red popc ~ =b32 b32 ?b32 pred
bar red ~ =pred b32 ?b32 pred
bar ~ b32 ?b32
barrier cluster ~
barrier red popc ~ =b32 b32 ?b32 pred
barrier red ~ =pred b32 ?b32 pred
barrier ~ b32 ?b32
bfe : =t t b32 b32
bfi : =t t t b32 b32
bfind : =b32 t
bmsk : =t t t
bra ~ L
brev : =t t
brkpt ~
brx ~ b32 X
clusterlaunchcontrol try_cancel ~ [w] [rw]
clusterlaunchcontrol is_canceled ~ =pred any
clusterlaunchcontrol query_cancel ~ =v0 any
clz : =b32 t
cnot : =t t
copysign : =t t t
cos : =t t
cp reduce async bulk tensor ~ tex [r] ?any
cp reduce async bulk mbarrier::complete_tx::bytes ~ [rw@0] [r@1] b32 [rw] ?any
cp reduce async bulk ~ [rw@0] [r@1] b32 ?any
cp async bulk commit_group ~
cp async bulk wait_group ~ #
cp async bulk prefetch tensor ~ tex ?any ?any
cp async bulk prefetch ~ [n] b32 ?any
cp async bulk tensor mbarrier::complete_tx::bytes ~ [w@0] tex [rw] ?any ?any ?any
cp async bulk tensor ~ tex [r] ?any ?any
cp async bulk mbarrier::complete_tx::bytes ignore_oob ~ [w@0] [r@1] b32 any any [rw] ?any ?any
cp async bulk mbarrier::complete_tx::bytes ~ [w@0] [r@1] b32 [rw] ?any ?any
cp async bulk ~ [w@0] [r@1] b32 ?any ?any
cp async commit_group ~
cp async wait_group ~ #
cp async wait_all ~
cp async mbarrier ~ [rw]
cp async ~ [w@0] [r@1] # ?any ?any
createpolicy range ~ =b64 [n] any any
createpolicy cvt ~ =b64 any
createpolicy ~ =b64 ?any
cvt pack ~ =t0 t1 t1 ?b32
cvt ~ =t0 t1 ?t1 ?any ?any
cvta ~ =t t
discard ~ [w] #
div : =t t t
dp2a : =b32 b32 b32 b32
dp4a : =b32 b32 b32 b32
elect ~ =b32| b32
ex2 : =t t
exit ~
fence ~ ?[n] ?#
fma #2 : =t0 t1 t1 t0
fma : =t t t t
fns : =b32 b32 b32 b32
getctarank ~ =b32 t
griddepcontrol ~
isspacep ~ =pred any
istypep ~ =pred any
ld ~ =v [r:v] ?any
ldmatrix ~ =any [r]
ldu ~ =v [r:v]
lg2 : =t t
lop3 ~ =t| t t t # ?pred
mad wide : =w t t w
mad : =t t t t
mad24 : =t t t t
madc : =t t t t
mapa ~ =t t b32
match ~ =b32| t b32
max : =t t t ?t
mbarrier init ~ [w] b32
mbarrier inval ~ [w]
mbarrier arrive ~ =b64 [rw] ?b32
mbarrier arrive_drop ~ =b64 [rw] ?b32
mbarrier expect_tx ~ [rw] b32
mbarrier complete_tx ~ [rw] b32
mbarrier test_wait ~ =pred [r] any
mbarrier try_wait ~ =pred [r] any ?b32
mbarrier pending_count ~ =b32 b64
membar ~
min : =t t t ?t
mma block_scale sp::ordered_metadata ~ =any any any any b32 # b32 any b32 any
mma block_scale sp ~ =any any any any b32 # b32 any b32 any
mma block_scale ~ =any any any any b32 any b32 any
mma sp::ordered_metadata ~ =any any any any b32 #
mma sp ~ =any any any any b32 #
mma ~ =any any any any
mov : =t t
movmatrix ~ =b32 b32
mul wide : =w t t
mul : =t t t
mul24 : =t t t
multimem ld_reduce ~ =v [r:v]
multimem st ~ [w:v] v
multimem red ~ [rw:v] v
multimem cp reduce ~ [rw@0] [r@1] b32 ?any
multimem cp ~ [w@0] [r@1] b32 ?any
nanosleep ~ b32
neg : =t t
not : =t t
or : =t t t
pmevent ~ #
popc : =b32 t
prefetch ~ [n] ?any
prefetchu ~ [n]
prmt : =b32 b32 b32 b32
rcp : =t t
red async ~ [rw:t] t [rw]
red ~ [rw:v] v ?any ?any
redux ~ =t t b32
rem : =t t t
ret ~
rsqrt : =t t
sad : =t t t t
selp : =t t t pred
set : =t0 t1 t1 ?pred
setmaxnreg ~ #
setp : =pred| t t ?pred
shf : =b32 b32 b32 b32
shfl sync ~ =b32| b32 b32 b32 b32
shfl ~ =b32| b32 b32 b32
shl : =t t b32
shr : =t t b32
sin : =t t
slct : =t0 t0 t0 t1
sqrt : =t t
st async mbarrier::complete_tx::bytes ~ [w:v] v [rw]
st bulk ~ [w] any #
st ~ [w:v] v ?any
stackrestore ~ t
stacksave ~ =t
stmatrix ~ [w] any
sub #2 : =t0 t1 t0
sub : =t t t
subc : =t t t
suld ~ =v tex
suq ~ =t [n]
sured ~ tex v ?any
sust ~ tex v
szext : =t t b32
tanh : =t t
tcgen05 alloc ~ [w] b32
tcgen05 dealloc ~ b32 b32
tcgen05 relinquish_alloc_permit ~
tcgen05 ld red ~ =any =any [r@t] ?#
tcgen05 ld ~ =any [r@t] ?#
tcgen05 st ~ [w@t] ?# any
tcgen05 wait::ld ~
tcgen05 wait::st ~
tcgen05 fence::before_thread_sync ~
tcgen05 fence::after_thread_sync ~
tcgen05 cp ~ [w@t] any
tcgen05 shift ~ [rw@t]
tcgen05 commit ~ [rw] ?any
tcgen05 mma ~ [rw@t] any any any any*
tensormap replace ~ [rw] any ?any
tensormap cp_fenceproxy ~ [w@0] [r@1] #
testp ~ =pred t
tex ~ =v0| tex ?any ?any ?any ?any
tld4 ~ =v0| tex ?any ?any
trap ~
txq ~ =t [n] ?any
vabsdiff ~ =b32 b32 b32 ?b32
vabsdiff2 ~ =b32 b32 b32 ?b32
vabsdiff4 ~ =b32 b32 b32 ?b32
vadd ~ =b32 b32 b32 ?b32
vadd2 ~ =b32 b32 b32 ?b32
vadd4 ~ =b32 b32 b32 ?b32
vavrg2 ~ =b32 b32 b32 ?b32
vavrg4 ~ =b32 b32 b32 ?b32
vmad ~ =b32 b32 b32 b32
vmax ~ =b32 b32 b32 ?b32
vmax2 ~ =b32 b32 b32 ?b32
vmax4 ~ =b32 b32 b32 ?b32
vmin ~ =b32 b32 b32 ?b32
vmin2 ~ =b32 b32 b32 ?b32
vmin4 ~ =b32 b32 b32 ?b32
vset ~ =b32 b32 b32 ?b32
vset2 ~ =b32 b32 b32 ?b32
vset4 ~ =b32 b32 b32 ?b32
vshl ~ =b32 b32 b32 ?b32
vshr ~ =b32 b32 b32 ?b32
vsub ~ =b32 b32 b32 ?b32
vsub2 ~ =b32 b32 b32 ?b32
vsub4 ~ =b32 b32 b32 ?b32
vote ballot sync ~ =b32 pred b32
vote ballot ~ =b32 pred
vote sync ~ =pred pred b32
vote ~ =pred pred
wgmma fence ~
wgmma commit_group ~
wgmma wait_group ~ #
wgmma mma_async sp ~ +any any any b32 # any #*
wgmma mma_async ~ +any any any any #*
wmma load ~ =any [r] ?b32
wmma store ~ [w] any ?b32
wmma mma ~ =any any any any
xor : =t t t
";

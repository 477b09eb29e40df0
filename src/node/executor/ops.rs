//! The JavaScript half of the host: one function an effect, handed over once per realm.
//!
//! The call's slot and up to four numbers travel in the [`Registers`], a piece of memory both sides see,
//! because a number there costs a store and an argument or an answer costs an allocation. The answer of
//! a number operation is in the first register: what the effect came to, or one of the three codes
//! below; what else there is to say stands behind it. They never throw (each is guarded on the
//! JavaScript side); if one does all the same, as on the termination of a worker, that counts as a thrown
//! callback.

use napi::bindgen_prelude::{Env, Float64Array, FnArgs, FunctionRef, Object};
use napi_derive::napi;
use std::cell::RefCell;

/// The callback threw; the value is kept under the slot.
pub const THREW: f64 = -1.0;
/// A promise was returned; the answer will be settled.
pub const PENDING: f64 = -2.0;

pub type NumberOp = FunctionRef<(), ()>;
pub type TextOp = FunctionRef<FnArgs<(u32, u32)>, Option<String>>;
pub type AuditOp = FunctionRef<FnArgs<(u32, String, String, Option<Object<'static>>)>, f64>;
pub type AttributesOp = FunctionRef<FnArgs<(u32, Object<'static>)>, f64>;
pub type FailureOp = FunctionRef<FnArgs<(u32, FailureRecord, bool)>, f64>;
pub type StatusOp = FunctionRef<FnArgs<(u32, bool, String)>, f64>;
pub type MessageOp = FunctionRef<FnArgs<(u32, String)>, f64>;
pub type HeldOp = FunctionRef<FnArgs<(u32, u32)>, napi::Unknown<'static>>;

/// A failure as JavaScript keeps it.
#[napi(object)]
pub struct FailureRecord {
    pub kind: String,
    pub message: String,
    pub hint: Option<String>,
    pub with_cause: bool,
    /// Recovery values were set by the site, so the event shows them too.
    pub explicit_recovery: bool,
    pub recoverable: bool,
    pub recovery_hint: Option<String>,
}

/// The effects of the host.
#[napi(object, object_to_js = false)]
pub struct HostOps {
    pub lookup: NumberOp,
    pub run_aborted: NumberOp,
    pub text: TextOp,
    pub number: NumberOp,
    pub held: HeldOp,
    pub denies_name: NumberOp,
    pub audit: AuditOp,
    pub failed: FailureOp,
    pub escaped: MessageOp,
    pub started: NumberOp,
    pub ended: NumberOp,
    pub span_attributes: AttributesOp,
    pub span_failed: StatusOp,
    pub open_span: NumberOp,
    pub close_span: NumberOp,
    pub pause: NumberOp,
    pub validate: NumberOp,
    pub repair: NumberOp,
    pub permission: NumberOp,
    pub rewrite_is_echo: NumberOp,
    pub rewrite: NumberOp,
    pub needs_approval: NumberOp,
    pub approved: NumberOp,
    pub argument_policy: NumberOp,
    pub inspect_flow: NumberOp,
    pub snapshot: NumberOp,
    pub idempotency_key: NumberOp,
    pub idempotent: NumberOp,
    pub sandbox: NumberOp,
    pub enter: NumberOp,
    pub start_grace: NumberOp,
    pub abort: NumberOp,
    pub give_up: NumberOp,
    pub close: NumberOp,
    pub pacing: NumberOp,
    pub verify: NumberOp,
    pub unpack: NumberOp,
    pub output_fits: NumberOp,
    pub bound: NumberOp,
    pub sanitise: NumberOp,
    pub assemble: NumberOp,
    pub record_flow: NumberOp,
    pub complete: NumberOp,
}

/// Calls an effect with the numbers in the registers. An exception of the engine itself counts as
/// [`THREW`].
pub fn call(env: Env, op: &NumberOp, registers: &Registers, slot: u32, numbers: [f64; 4]) -> f64 {
    let [a, b, c, d] = numbers;
    registers.write(&[f64::from(slot), a, b, c, d]);
    match op.borrow_back(&env).and_then(|function| function.call(())) {
        Ok(()) => registers.read()[0],
        Err(_) => THREW,
    }
}

/// The numbers that cross beside a call, in either direction. Whoever is called reads them first
/// thing: the next crossing writes others.
pub struct Registers {
    shared: RefCell<Float64Array>,
}

impl Registers {
    /// How many there are.
    pub const COUNT: usize = 7;

    /// `shared` has to hold [`COUNT`](Self::COUNT) numbers.
    pub fn new(shared: Float64Array) -> napi::Result<Self> {
        if shared.len() == Self::COUNT {
            return Ok(Self { shared: RefCell::new(shared) });
        }
        Err(napi::Error::from_reason("the registers of the executor have the wrong size"))
    }

    /// What JavaScript wrote.
    pub fn read(&self) -> [f64; Self::COUNT] {
        let mut numbers = [0.0; Self::COUNT];
        numbers.copy_from_slice(&self.shared.borrow());
        numbers
    }

    fn write(&self, numbers: &[f64; 5]) {
        let mut shared = self.shared.borrow_mut();
        // SAFETY: JavaScript sees this memory too, but runs on this very thread, so nobody reads or
        // writes it while the slice lives, which ends with this statement.
        let first = unsafe { shared.as_mut().get_mut(..numbers.len()) };
        if let Some(first) = first {
            first.copy_from_slice(numbers);
        }
    }
}

//! JavaScript strings over memory of ours, for texts of megabytes.
//!
//! Copying such a text into the engine's heap takes a millisecond a megabyte, on the JavaScript thread;
//! a string that refers to our memory takes none, and frees it when it is collected. Node has the
//! function since 20.4, but it belongs to Node-API 10 and this addon asks for 9, so it is looked up by
//! name: where it is missing (or on Windows) the text is copied. Where the engine may not refer to
//! memory outside of it, Node copies by itself.

use super::roomy::Roomy;
use napi::sys;
use std::ffi::{CStr, c_void};

/// Shorter texts are copied: an external string costs the collector more than a plain one.
const LEAST: usize = 1024 * 1024;
/// Longer ones are left to the function that can refuse them: what becomes of our memory when this one
/// refuses is not documented. All engines take strings as long as this.
const MOST: usize = 128 * 1024 * 1024;

/// Whether a text of so many units is worth an external string.
pub(super) fn is_worth(len: usize) -> bool {
    (LEAST..=MOST).contains(&len)
}

/// A unit of an external string.
pub(super) trait Unit: Copy + Send + Sync + 'static {
    /// Node's function for strings of such units.
    const FUNCTION: &'static CStr;
}

/// Latin-1.
impl Unit for u8 {
    const FUNCTION: &'static CStr = c"node_api_create_external_string_latin1";
}

impl Unit for u16 {
    const FUNCTION: &'static CStr = c"node_api_create_external_string_utf16";
}

type Create = unsafe extern "C" fn(
    sys::napi_env,
    *mut c_void,
    usize,
    sys::napi_finalize,
    *mut c_void,
    *mut sys::napi_value,
    *mut bool,
) -> sys::napi_status;

#[cfg(unix)]
fn create_function<U: Unit>() -> Option<Create> {
    // SAFETY: looks up a name in what is loaded; the name is a C string.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, U::FUNCTION.as_ptr()) };
    // SAFETY: Node documents both functions with this signature but for the pointer to the units, in every version
    // that has them.
    (!found.is_null()).then(|| unsafe { std::mem::transmute::<*mut c_void, Create>(found) })
}

#[cfg(not(unix))]
fn create_function<U: Unit>() -> Option<Create> {
    None
}

/// A string over these units, or the units back when there can be none.
///
/// # Safety
/// `env` is that of the running call.
pub(super) unsafe fn create<U: Unit>(
    env: sys::napi_env,
    units: Roomy<U>,
) -> Result<sys::napi_value, Roomy<U>> {
    let Some(function) = create_function::<U>() else { return Err(units) };
    let units = Box::new(units);
    let (text, len) = (units.as_ptr().cast_mut().cast(), units.len());
    let owner = Box::into_raw(units);
    let mut value = std::ptr::null_mut();
    let mut copied = false;
    // SAFETY: pointer and length describe the text, which the engine only reads and which stays where it is until `release` gets
    // `owner`: when the string is collected, or now if it was copied.
    let status = unsafe {
        function(env, text, len, Some(release::<U>), owner.cast(), &raw mut value, &raw mut copied)
    };
    if status == sys::Status::napi_ok {
        // The engine collects when it has much to collect, and does not count this memory by itself: gigabytes of
        // texts that nobody uses any more would lie around.
        if !copied {
            count(env, len * size_of::<U>(), true);
        }
        return Ok(value);
    }
    // SAFETY: without a string nobody else has the pointer.
    Err(unsafe { *Box::from_raw(owner) })
}

/// Tells the engine of memory that came or went.
fn count(env: sys::napi_env, bytes: usize, came: bool) {
    let bytes = i64::try_from(bytes).unwrap_or(0);
    let mut all = 0;
    // SAFETY: `env` is one that lives. Node allows it during a collection; less memory never starts one.
    unsafe { sys::napi_adjust_external_memory(env, if came { bytes } else { -bytes }, &raw mut all) };
}

/// Frees the memory of a string that is gone. Runs no JavaScript: a collection may be going on.
unsafe extern "C" fn release<U: Unit>(env: sys::napi_env, _text: *mut c_void, owner: *mut c_void) {
    // SAFETY: `owner` is the box that `create` let go of, and this is called once for it.
    let units = unsafe { Box::from_raw(owner.cast::<Roomy<U>>()) };
    // There is no environment when it ended before the string did.
    if !env.is_null() {
        count(env, units.len() * size_of::<U>(), false);
    }
    if units.is_mapped() {
        // A collection frees all at once, and the thread that collects is JavaScript's.
        drop_elsewhere(units);
    }
}

/// Drops something that takes long, here only when there is no thread to be had.
pub(super) fn drop_elsewhere<T: Send + 'static>(what: T) {
    let _ = std::thread::Builder::new().name("ferrule-free".to_owned()).spawn(move || drop(what));
}

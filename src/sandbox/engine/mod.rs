//! The engine behind the wire: one warmed Boa context that evaluates one script.
//!
//! [`Engine::warm`] is done once, by the zygote, and [`Engine::furnish_more`] when it has nothing else to
//! do; [`Engine::run`] once per forked child, which is thrown away afterwards, so nothing of a script can
//! reach the next one. Whatever the script does
//! here is contained by the process around it (`super::jail`) and disbelieved by the host; the checks
//! in this room exist to give the model a useful message, not to keep anyone safe.

mod added;
mod arrays;
mod collate;
mod gaps;
mod growing;
mod hooks;
mod natives;
mod overlay;
mod places;
mod prelude;
mod problem;
mod refused;
mod regexps;
mod rest;
mod run;
mod shown;
mod sort;
mod source;
mod state;
mod strip;
mod syntax;
mod texts;
mod value;

use super::wire::{self, Port, Start};
use boa_engine::context::ContextBuilder;
use boa_engine::{Context, JsResult, Source};
use std::rc::Rc;

/// An engine with what a script finds in place, or nearly.
pub struct Engine {
    context: Context,
    state: Rc<state::State>,
    queue: Rc<hooks::Queue>,
}

impl Engine {
    /// Builds the context and evaluates as much of the prelude as every script needs.
    ///
    /// # Panics
    /// When the prelude itself is broken, which the tests of this room exclude.
    #[must_use]
    pub fn warm() -> Self {
        let state = Rc::new(state::State::default());
        let queue = Rc::new(hooks::Queue::new(Rc::clone(&state)));
        let mut context = ContextBuilder::new()
            .host_hooks(Rc::new(hooks::Hooks::new(Rc::clone(&state))))
            .job_executor(Rc::clone(&queue))
            .module_loader(Rc::new(hooks::NoModules::new(Rc::clone(&state))))
            .build()
            .expect("a context can be built");
        let limits = context.runtime_limits_mut();
        limits.set_recursion_limit(10_000);
        limits.set_stack_size_limit(4_000_000);
        limits.set_backtrace_limit(16);
        Self::furnish(&mut context, &state).unwrap_or_else(|error| panic!("prelude: {error}"));
        let mut engine = Self { context, state, queue };
        engine.rehearse();
        engine
    }

    /// Goes once through what every script does, so that forked children find it done: lazy parts of the
    /// engine are made. The registry of symbols is one: making it asks the system how many processors
    /// there are.
    fn rehearse(&mut self) {
        use boa_engine::job::JobExecutor;
        let text = wire::Text::Latin1(
            b"Symbol.for(''); const done = await null; return [done].map((one) => ({ one }));".to_vec(),
        );
        if let Ok(prepared) = source::prepare(&text, wire::Mode::Body)
            && let Ok(function) = self.context.eval(Source::from_utf16(&prepared.code))
            && let Some(function) = function.as_callable()
            && let Ok(value) = function.call(&boa_engine::JsValue::undefined(), &[], &mut self.context)
            && Rc::clone(&self.queue).run_jobs(&mut self.context).is_ok()
        {
            let _ = value::encode(&value, 1 << 10, 1 << 10, &mut self.context);
        }
    }

    /// Does a little more of what [`Engine::warm`] left out; false when all is done.
    ///
    /// # Panics
    /// As [`Engine::warm`].
    pub fn furnish_more(&mut self) -> bool {
        let more = prelude::step(&mut self.context).unwrap_or_else(|error| panic!("prelude: {error}"));
        if !more {
            // The collector would touch, and so copy, every page of a forked child: best it has just run.
            boa_engine::gc::force_collect();
        }
        more
    }

    /// Puts in place what the script of a request may touch and is not there yet.
    ///
    /// # Panics
    /// As [`Engine::warm`].
    #[must_use]
    pub fn furnished_for(mut self, start: &Start) -> Self {
        prelude::for_source(&start.source.to_utf8(), &mut self.context)
            .unwrap_or_else(|error| panic!("prelude: {error}"));
        self
    }

    fn furnish(context: &mut Context, state: &Rc<state::State>) -> JsResult<()> {
        let native = natives::build(context, state);
        sort::install(context)?;
        texts::install(context)?;
        regexps::install(context)?;
        arrays::install(context)?;
        shown::install(context)?;
        growing::install(context)?;
        let shared = prelude::core(native, context)?;
        run::keep_codec(context, &shared)
    }

    /// Evaluates one script, which the engine has been furnished for, and talks to the host until it is
    /// over. Sends exactly one final frame.
    /// `seed` feeds `Math.random` and `crypto`, which forked processes would otherwise share.
    pub fn run(mut self, start: &Start, port: Box<dyn Port>, seed: [u8; 32]) {
        self.state.begin(start, port, seed);
        run::run(&mut self, start);
        // Nothing to tidy up: taking the heap apart would only cost time.
        self.state.port(|port| port.exit(0));
    }
}

#[cfg(test)]
mod tests;

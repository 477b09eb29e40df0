// `JSON.parse` for the texts the engine's own refuses although they are JSON: numbers beyond every double
// (which are infinite) and deep nesting. Without recursion, so that depth costs memory only.
(function (native, shared) {
  'use strict';
  const { parse } = JSON;
  const { defineProperty } = Object;

  function slowly(text) {
    const token = /[\t\n\r ]*(?:([[\]{},:])|("(?:[^"\\]|\\.)*")|(true|false|null)|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?))[\t\n\r ]*/y;
    const fail = () => {
      throw new SyntaxError('JSON.parse: the text is not JSON');
    };
    const next = () => token.exec(text) ?? fail();
    const open = [];
    let match = next();
    for (;;) {
      let value;
      if (match[1] === '[' || match[1] === '{') {
        const list = match[1] === '[';
        const frame = { value: list ? [] : {}, list, key: undefined };
        match = next();
        if (match[1] !== (list ? ']' : '}')) {
          if (!list) {
            frame.key = parse(match[2] ?? fail());
            if (next()[1] !== ':') fail();
            match = next();
          }
          open.push(frame);
          continue;
        }
        value = frame.value;
      } else if (match[2] !== undefined || match[3] !== undefined) value = parse(match[2] ?? match[3]);
      else value = match[4] === undefined ? fail() : Number(match[4]);
      for (;;) {
        const frame = open[open.length - 1];
        if (frame === undefined) return token.lastIndex === text.length ? value : fail();
        const key = frame.list ? frame.value.length : frame.key;
        defineProperty(frame.value, key, { value, writable: true, enumerable: true, configurable: true });
        match = next();
        if (match[1] === ',') {
          match = next();
          if (frame.list) break;
          frame.key = parse(match[2] ?? fail());
          if (next()[1] !== ':') fail();
          match = next();
          break;
        }
        if (match[1] !== (frame.list ? ']' : '}')) fail();
        open.pop();
        value = frame.value;
      }
    }
  }

  function revived(holder, key, reviver) {
    const value = holder[key];
    if (typeof value === 'object' && value !== null) {
      for (const name of Object.keys(value)) {
        const made = revived(value, name, reviver);
        if (made === undefined) delete value[name];
        else defineProperty(value, name, { value: made, writable: true, enumerable: true, configurable: true });
      }
    }
    return reviver.call(holder, key, value);
  }

  const wide = {
    parse(text, reviver) {
      const read = String(text);
      try {
        return parse(read, reviver);
      } catch (error) {
        // A reviver's own error, or a text that is no JSON, stays what it is.
        if (!(error instanceof SyntaxError) || !/^(recursion limit|number out of range)/.test(error.message)) throw error;
      }
      const value = slowly(read);
      return typeof reviver === 'function' ? revived({ '': value }, '', reviver) : value;
    },
  }.parse;
  defineProperty(JSON, 'parse', { value: wide, writable: true, enumerable: false, configurable: true });
});

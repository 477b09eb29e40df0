// Text and bytes: the encoders, base64, randomness.
(function (native, shared) {
  'use strict';
  const { define } = shared;
  const { toBase64, fromBase64, latin1 } = native;

  define(
    'TextEncoder',
    class TextEncoder {
      get encoding() {
        return 'utf-8';
      }
      encode(text = '') {
        return native.encode(String(text));
      }
      encodeInto(text, target) {
        const bytes = native.encode(String(text)).subarray(0, target.length);
        target.set(bytes);
        return { read: text.length, written: bytes.length };
      }
    },
  );
  // How many bytes at the end are the start of a character whose end is missing.
  const unfinished = (bytes) => {
    for (let back = 1; back <= Math.min(3, bytes.length); back++) {
      const byte = bytes[bytes.length - back];
      if (byte < 0x80) return 0;
      if (byte >= 0xc0) return (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) > back && byte < 0xf5 ? back : 0;
    }
    return 0;
  };
  define(
    'TextDecoder',
    class TextDecoder {
      #fatal;
      // Of a stream: the bytes of a character that is not whole yet, and whether text has been given.
      #rest = new Uint8Array();
      #begun = false;
      #keepMark;
      constructor(label = 'utf-8', options = {}) {
        if (!/^utf-?8$/i.test(String(label).trim())) throw new RangeError(`The "${label}" encoding is not supported, only utf-8 is`);
        this.#fatal = options.fatal === true;
        this.#keepMark = options.ignoreBOM === true;
      }
      get encoding() {
        return 'utf-8';
      }
      decode(input = new Uint8Array(), options = {}) {
        let bytes = ArrayBuffer.isView(input) ? new Uint8Array(input.buffer, input.byteOffset, input.byteLength) : new Uint8Array(input);
        if (this.#rest.length > 0) {
          const whole = new Uint8Array(this.#rest.length + bytes.length);
          whole.set(this.#rest);
          whole.set(bytes, this.#rest.length);
          bytes = whole;
        }
        const more = Boolean(options?.stream);
        const end = more ? bytes.length - unfinished(bytes) : bytes.length;
        this.#rest = bytes.slice(end);
        const first = !this.#begun;
        this.#begun = more && (this.#begun || end > 0);
        const text = native.decode(bytes.subarray(0, end), this.#fatal);
        return first && !this.#keepMark && text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
      }
    },
  );
  class InvalidCharacterError extends Error {
    get name() {
      return 'InvalidCharacterError';
    }
    get code() {
      return 5;
    }
  }
  const invalid = (message) => new InvalidCharacterError(message);
  define('btoa', function btoa(text) {
    const bytes = native.narrow(String(text));
    if (bytes === undefined) throw invalid('btoa: the text holds characters beyond Latin-1');
    return toBase64(bytes);
  });
  define('atob', function atob(text) {
    const clean = String(text).replace(/[\t\n\f\r ]/g, '').replace(/={1,2}$/, '');
    if (!/^[A-Za-z0-9+/]*$/.test(clean) || clean.length % 4 === 1) throw invalid('atob: the text is not correctly encoded');
    return latin1(fromBase64(clean));
  });

  // --- crypto: randomness only ----------------------------------------------------------------------
  const bytes = (array) => {
    for (let i = 0; i < array.length; i++) array[i] = Math.floor(native.random() * 256);
    return array;
  };
  define('crypto', {
    randomUUID() {
      const b = bytes(new Uint8Array(16));
      b[6] = (b[6] & 0x0f) | 0x40;
      b[8] = (b[8] & 0x3f) | 0x80;
      const hex = Array.from(b, (byte) => byte.toString(16).padStart(2, '0')).join('');
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
    },
    getRandomValues(array) {
      if (array.byteLength > 65536) throw new RangeError('getRandomValues gives at most 65536 bytes');
      bytes(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
      return array;
    },
  });
});

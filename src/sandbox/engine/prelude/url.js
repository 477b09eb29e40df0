// URLSearchParams and URL: the WHATWG algorithms as far as scripts use them (special schemes and
// opaque paths; international host names are kept as they are written).
(function (native, shared) {
  'use strict';
  const { define } = shared;
  const encodeUtf8 = (text) => native.encode(text);
  const hex = (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  const percent = (text, keep) => {
    let out = '';
    for (const char of text) {
      if (keep.test(char)) out += char;
      else for (const byte of encodeUtf8(char)) out += hex(byte);
    }
    return out;
  };
  const unpercent = (text) => {
    if (!text.includes('%')) return text;
    const bytes = [];
    for (const byte of encodeUtf8(text)) bytes.push(byte);
    const out = [];
    for (let i = 0; i < bytes.length; i++) {
      const digits = bytes[i] === 37 ? String.fromCharCode(bytes[i + 1] ?? 0, bytes[i + 2] ?? 0) : '';
      if (/^[0-9a-f]{2}$/i.test(digits)) {
        out.push(parseInt(digits, 16));
        i += 2;
      } else out.push(bytes[i]);
    }
    return native.decode(Uint8Array.from(out), false);
  };
  const formEncode = (text) => percent(String(text), /[A-Za-z0-9*\-._ ]/).replace(/ /g, '+');
  const formDecode = (text) => unpercent(text.replace(/\+/g, ' '));

  class URLSearchParams {
    #pairs = [];
    #changed;
    get [Symbol.toStringTag]() {
      return 'URLSearchParams';
    }
    constructor(init = '', changed = undefined) {
      if (typeof init === 'object' && init !== null) {
        if (typeof init[Symbol.iterator] === 'function') {
          for (const pair of init) {
            const [key, value, ...rest] = pair;
            if (rest.length > 0 || [...pair].length !== 2) throw new TypeError('Each query pair must be an iterable [name, value] tuple');
            this.#pairs.push([String(key), String(value)]);
          }
        } else for (const key of Object.keys(init)) this.#pairs.push([key, String(init[key])]);
      } else this.#parse(String(init));
      this.#changed = typeof changed === 'function' ? changed : undefined;
    }
    #parse(text) {
      const query = text.startsWith('?') ? text.slice(1) : text;
      this.#pairs = query
        .split('&')
        .filter((part) => part !== '')
        .map((part) => {
          const at = part.indexOf('=');
          return at < 0 ? [formDecode(part), ''] : [formDecode(part.slice(0, at)), formDecode(part.slice(at + 1))];
        });
    }
    #update() {
      this.#changed?.(this.toString());
    }
    get size() {
      return this.#pairs.length;
    }
    append(key, value) {
      this.#pairs.push([String(key), String(value)]);
      this.#update();
    }
    delete(key, value) {
      this.#pairs = this.#pairs.filter(([k, v]) => k !== String(key) || (value !== undefined && v !== String(value)));
      this.#update();
    }
    get(key) {
      return this.#pairs.find(([k]) => k === String(key))?.[1] ?? null;
    }
    getAll(key) {
      return this.#pairs.filter(([k]) => k === String(key)).map(([, v]) => v);
    }
    has(key, value) {
      return this.#pairs.some(([k, v]) => k === String(key) && (value === undefined || v === String(value)));
    }
    set(key, value) {
      const at = this.#pairs.findIndex(([k]) => k === String(key));
      if (at < 0) this.#pairs.push([String(key), String(value)]);
      else {
        this.#pairs[at] = [String(key), String(value)];
        this.#pairs = this.#pairs.filter(([k], index) => index <= at || k !== String(key));
      }
      this.#update();
    }
    sort() {
      this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
      this.#update();
    }
    forEach(callback, self) {
      for (const [key, value] of this.#pairs) callback.call(self, value, key, this);
    }
    *entries() {
      for (const pair of this.#pairs) yield [...pair];
    }
    *keys() {
      for (const [key] of this.#pairs) yield key;
    }
    *values() {
      for (const [, value] of this.#pairs) yield value;
    }
    [Symbol.iterator]() {
      return this.entries();
    }
    toString() {
      return this.#pairs.map(([key, value]) => `${formEncode(key)}=${formEncode(value)}`).join('&');
    }
  }
  define('URLSearchParams', URLSearchParams);

  const ports = { 'http:': '80', 'https:': '443', 'ftp:': '21', 'ws:': '80', 'wss:': '443', 'file:': '' };
  const special = (protocol) => Object.hasOwn(ports, protocol);
  const printable = (text, also) => percent(text.replace(/[\t\n\r]/g, ''), also);
  const inPath = /[!$%&'()*+,\-./0-9:;=@A-Z[\\\]_a-z|~^]/;
  const inQuery = /[!$%&()*+,\-./0-9:;=?@A-Z[\\\]^_`a-z{|}~]/;
  const inFragment = /[!#$%&'()*+,\-./0-9:;=?@A-Z[\\\]^_a-z{|}~]/;
  const inUser = /[!$%&'()*+,\-.0-9A-Z_a-z~]/;

  function hostOf(text, protocol) {
    if (text.startsWith('[')) {
      if (!/^\[[0-9a-f:.]+\]$/i.test(text)) return undefined;
      return text.toLowerCase();
    }
    const host = unpercent(text);
    if (!special(protocol)) return /[\s#/<>?@[\\\]^|]/.test(host) ? undefined : percent(host, /[!-~]/);
    if (host === '' || /[\s\0#%/:<>?@[\\\]^|]/.test(host)) return protocol === 'file:' && host === '' ? '' : undefined;
    const lower = host.toLowerCase();
    if (!/(^|\.)(\d+|0x[0-9a-f]*)\.?$/.test(lower)) return lower;
    // A host that ends in a number is an IPv4 address.
    const parts = lower.replace(/\.$/, '').split('.').map((part) => (/^(\d+|0x[0-9a-f]*)$/.test(part) ? Number(/^0\d/.test(part) ? `0o${part.slice(1)}` : part === '0x' ? 0 : part) : NaN));
    if (parts.length > 4 || parts.some((part) => Number.isNaN(part))) return undefined;
    const last = parts.pop();
    if (parts.some((part) => part > 255) || last >= 256 ** (4 - parts.length)) return undefined;
    const address = parts.reduce((sum, part, at) => sum + part * 256 ** (3 - at), last);
    return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.');
  }

  function normalPath(path, protocol) {
    const out = [];
    const segments = (special(protocol) ? path.replace(/\\/g, '/') : path).split('/');
    segments.forEach((segment, at) => {
      const last = at === segments.length - 1;
      const plain = segment.replace(/%2e/gi, '.');
      if (plain === '..') {
        if (out.length > 1) out.pop();
        if (last) out.push('');
      } else if (plain === '.') {
        if (last) out.push('');
      } else out.push(printable(segment, inPath));
    });
    return out.join('/');
  }

  class URL {
    #u;
    #params;
    get [Symbol.toStringTag]() {
      return 'URL';
    }
    constructor(input, base) {
      const parsed = URL.#parse(String(input), base === undefined ? undefined : base instanceof URL ? base : new URL(base));
      if (!parsed) throw Object.assign(new TypeError('Invalid URL'), { code: 'ERR_INVALID_URL', input: String(input) });
      this.#u = parsed;
    }
    static canParse(input, base) {
      try {
        return Boolean(new URL(input, base));
      } catch {
        return false;
      }
    }
    static parse(input, base) {
      return URL.canParse(input, base) ? new URL(input, base) : null;
    }
    static #parse(raw, base) {
      const text = raw.replace(/^[\0-\x20]+|[\0-\x20]+$/g, '').replace(/[\t\n\r]/g, '');
      const scheme = /^[A-Za-z][A-Za-z0-9+\-.]*:/.exec(text);
      const protocol = scheme ? scheme[0].toLowerCase() : base?.protocol;
      if (!protocol) return undefined;
      let rest = scheme ? text.slice(scheme[0].length) : text;
      const u = { protocol, username: '', password: '', host: '', port: '', path: '', search: '', hash: '', opaque: false };
      const cut = rest.indexOf('#');
      if (cut >= 0) {
        const fragment = rest.slice(cut + 1);
        u.hash = fragment === '' ? '' : `#${printable(fragment, inFragment)}`;
        rest = rest.slice(0, cut);
      }
      const ask = rest.indexOf('?');
      let query;
      if (ask >= 0) {
        query = rest.slice(ask + 1);
        rest = rest.slice(0, ask);
        u.search = query === '' ? '' : `?${printable(query, special(protocol) ? inQuery : /[!$%&'()*+,\-./0-9:;=?@A-Z[\\\]^_`a-z{|}~]/)}`;
      }
      if (special(protocol)) rest = rest.replace(/\\/g, '/');
      const relative = base !== undefined && (!scheme || (special(protocol) && base.protocol === protocol && !rest.startsWith('/')));
      if (relative && !rest.startsWith('//')) {
        const from = base.#u;
        if (from.opaque) {
          if (rest !== '' || ask >= 0) return undefined;
          return { ...from, hash: u.hash };
        }
        const path = rest === '' ? from.path : rest.startsWith('/') ? normalPath(rest, protocol) : normalPath(from.path.slice(0, from.path.lastIndexOf('/') + 1) + rest, protocol);
        return { ...from, path, search: rest === '' && query === undefined ? from.search : u.search, hash: u.hash };
      }
      if (!rest.startsWith('//') && !special(protocol)) {
        u.opaque = !rest.startsWith('/');
        u.path = u.opaque ? percent(rest, /[ -~]/) : normalPath(rest, protocol);
        return u;
      }
      rest = special(protocol) && protocol !== 'file:' ? rest.replace(/^\/*/, '') : rest.slice(2);
      const slash = rest.indexOf('/');
      let authority = slash < 0 ? rest : rest.slice(0, slash);
      const path = slash < 0 ? '' : rest.slice(slash);
      const at = authority.lastIndexOf('@');
      if (at >= 0) {
        const user = authority.slice(0, at);
        const colon = user.indexOf(':');
        u.username = percent(colon < 0 ? user : user.slice(0, colon), inUser);
        u.password = colon < 0 ? '' : percent(user.slice(colon + 1), inUser);
        authority = authority.slice(at + 1);
      }
      const port = /:(\d*)$/.exec(authority);
      if (port && !/\[[^\]]*$/.test(authority)) {
        authority = authority.slice(0, port.index);
        if (port[1] !== '') {
          if (Number(port[1]) > 65535) return undefined;
          u.port = String(Number(port[1])) === ports[protocol] ? '' : String(Number(port[1]));
        }
      }
      const host = hostOf(authority, protocol);
      if (host === undefined) return undefined;
      u.host = host;
      u.path = normalPath(path === '' && special(protocol) ? '/' : path, protocol);
      return u;
    }
    get protocol() {
      return this.#u.protocol;
    }
    set protocol(value) {
      const next = `${String(value).replace(/:.*$/s, '').toLowerCase()}:`;
      if (special(next) === special(this.#u.protocol)) this.#u.protocol = next;
    }
    get username() {
      return this.#u.username;
    }
    set username(value) {
      this.#u.username = percent(String(value), inUser);
    }
    get password() {
      return this.#u.password;
    }
    set password(value) {
      this.#u.password = percent(String(value), inUser);
    }
    get hostname() {
      return this.#u.host;
    }
    set hostname(value) {
      const host = hostOf(String(value), this.#u.protocol);
      if (host) this.#u.host = host;
    }
    get port() {
      return this.#u.port;
    }
    set port(value) {
      const number = parseInt(value, 10);
      if (value === '') this.#u.port = '';
      else if (number >= 0 && number <= 65535) this.#u.port = String(number) === ports[this.#u.protocol] ? '' : String(number);
    }
    get host() {
      return this.#u.host + (this.#u.port === '' ? '' : `:${this.#u.port}`);
    }
    set host(value) {
      const [, host, port] = /^(.*?)(?::(\d+))?$/s.exec(String(value));
      this.hostname = host;
      if (port !== undefined) this.port = port;
    }
    get origin() {
      return special(this.#u.protocol) && this.#u.protocol !== 'file:' ? `${this.#u.protocol}//${this.host}` : 'null';
    }
    get pathname() {
      return this.#u.path;
    }
    set pathname(value) {
      const path = String(value);
      if (!this.#u.opaque) this.#u.path = normalPath(path.startsWith('/') ? path : `/${path}`, this.#u.protocol).replace(/[?#]/g, (char) => hex(char.charCodeAt(0)));
    }
    get search() {
      return this.#u.search;
    }
    set search(value) {
      const text = String(value).replace(/^\?/, '');
      this.#u.search = text === '' ? '' : `?${printable(text, inQuery)}`;
      this.#params = undefined;
    }
    get searchParams() {
      this.#params ??= new URLSearchParams(this.#u.search, (text) => {
        this.#u.search = text === '' ? '' : `?${text}`;
      });
      return this.#params;
    }
    get hash() {
      return this.#u.hash;
    }
    set hash(value) {
      const text = String(value).replace(/^#/, '');
      this.#u.hash = text === '' ? '' : `#${printable(text, inFragment)}`;
    }
    get href() {
      const { protocol, username, password, host, path, search, hash, opaque } = this.#u;
      const user = username || password ? `${username}${password ? `:${password}` : ''}@` : '';
      const authority = !opaque && (special(protocol) || host !== '') ? `//${user}${this.host}` : '';
      return `${protocol}${authority}${path}${search}${hash}`;
    }
    toString() {
      return this.href;
    }
    toJSON() {
      return this.href;
    }
  }
  define('URL', URL);
});

import { copyNumber, read } from '../read.js';
import type { JsonSchemaRecord, ZodV4Like } from '../types.js';
import type { Walk } from '../walk.js';

type Def = ZodV4Like['_zod']['def'];

const FORMATS = new Map<unknown, string>([
  ['email', 'email'],
  ['url', 'uri'],
  ['uuid', 'uuid'],
  ['guid', 'uuid'],
  ['datetime', 'date-time'],
  ['date', 'date'],
  ['time', 'time'],
  ['duration', 'duration'],
  ['ipv4', 'ipv4'],
  ['ipv6', 'ipv6'],
]);

/** The definitions of a schema's checks, in order. */
function checks(def: Def): readonly unknown[] {
  const list = def['checks'];
  return Array.isArray(list) ? list.map((check) => read(read(check, '_zod'), 'def')) : [];
}

function applyStringFormat(node: JsonSchemaRecord, def: unknown): void {
  const name = read(def, 'format');
  const format = FORMATS.get(name);
  const pattern = read(def, 'pattern');
  if (format !== undefined) node['format'] = format;
  else if (name === 'regex' && pattern instanceof RegExp) node['pattern'] = pattern.source;
}

/** Strings: `z.email()` and the like carry their format themselves, the rest are checks. @internal */
export function stringNode(def: Def): JsonSchemaRecord {
  const node: JsonSchemaRecord = { type: 'string' };
  applyStringFormat(node, def);
  for (const check of checks(def)) {
    const kind = read(check, 'check');
    if (kind === 'string_format') applyStringFormat(node, check);
    else if (kind === 'min_length') copyNumber(node, 'minLength', read(check, 'minimum'));
    else if (kind === 'max_length') copyNumber(node, 'maxLength', read(check, 'maximum'));
    else if (kind === 'length_equals') {
      copyNumber(node, 'minLength', read(check, 'length'));
      copyNumber(node, 'maxLength', read(check, 'length'));
    }
  }
  return node;
}

function isIntegerFormat(def: unknown): boolean {
  const format = read(def, 'format');
  return typeof format === 'string' && format.includes('int');
}

/** Numbers: a bound is inclusive only when it says so. @internal */
export function numberNode(def: Def): JsonSchemaRecord {
  const node: JsonSchemaRecord = { type: isIntegerFormat(def) ? 'integer' : 'number' };
  for (const check of checks(def)) {
    const kind = read(check, 'check');
    const value = read(check, 'value');
    const inclusive = read(check, 'inclusive') === true;
    if (kind === 'number_format' && isIntegerFormat(check)) node['type'] = 'integer';
    else if (kind === 'greater_than') copyNumber(node, inclusive ? 'minimum' : 'exclusiveMinimum', value);
    else if (kind === 'less_than') copyNumber(node, inclusive ? 'maximum' : 'exclusiveMaximum', value);
    else if (kind === 'multiple_of') copyNumber(node, 'multipleOf', value);
  }
  return node;
}

/** Arrays with their bounds. @internal */
export function arrayNode(def: Def, walk: Walk): JsonSchemaRecord {
  const node: JsonSchemaRecord = { type: 'array', items: walk.at('*', def['element']) };
  for (const check of checks(def)) {
    const kind = read(check, 'check');
    if (kind === 'min_length') copyNumber(node, 'minItems', read(check, 'minimum'));
    else if (kind === 'max_length') copyNumber(node, 'maxItems', read(check, 'maximum'));
    else if (kind === 'length_equals') {
      copyNumber(node, 'minItems', read(check, 'length'));
      copyNumber(node, 'maxItems', read(check, 'length'));
    }
  }
  return node;
}

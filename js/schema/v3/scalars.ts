import { copyNumber, read } from '../read.js';
import type { JsonSchemaRecord, ZodV3Like } from '../types.js';
import type { Walk } from '../walk.js';

type Def = ZodV3Like['_def'];

const FORMATS = new Map<unknown, string>([
  ['email', 'email'],
  ['url', 'uri'],
  ['uuid', 'uuid'],
  ['datetime', 'date-time'],
  ['date', 'date'],
  ['time', 'time'],
  ['duration', 'duration'],
]);

function checks(def: Def): readonly unknown[] {
  return Array.isArray(def['checks']) ? def['checks'] : [];
}

/** Strings: lengths, pattern and the formats JSON Schema knows. @internal */
export function stringNode(def: Def): JsonSchemaRecord {
  const node: JsonSchemaRecord = { type: 'string' };
  for (const check of checks(def)) {
    const kind = read(check, 'kind');
    const value = read(check, 'value');
    const regex = read(check, 'regex');
    const format = FORMATS.get(kind);
    if (format !== undefined) node['format'] = format;
    else if (kind === 'regex' && regex instanceof RegExp) node['pattern'] = regex.source;
    if (kind === 'min' || kind === 'length') copyNumber(node, 'minLength', value);
    if (kind === 'max' || kind === 'length') copyNumber(node, 'maxLength', value);
  }
  return node;
}

/** Numbers: a bound is exclusive only when it says so. @internal */
export function numberNode(def: Def): JsonSchemaRecord {
  const node: JsonSchemaRecord = { type: 'number' };
  for (const check of checks(def)) {
    const kind = read(check, 'kind');
    const value = read(check, 'value');
    const exclusive = read(check, 'inclusive') === false;
    if (kind === 'int') node['type'] = 'integer';
    else if (kind === 'min') copyNumber(node, exclusive ? 'exclusiveMinimum' : 'minimum', value);
    else if (kind === 'max') copyNumber(node, exclusive ? 'exclusiveMaximum' : 'maximum', value);
    else if (kind === 'multipleOf') copyNumber(node, 'multipleOf', value);
  }
  return node;
}

/** Arrays with their bounds. @internal */
export function arrayNode(def: Def, walk: Walk): JsonSchemaRecord {
  const node: JsonSchemaRecord = { type: 'array', items: walk.at('*', def['type']) };
  const exact = read(def['exactLength'], 'value');
  copyNumber(node, 'minItems', read(def['minLength'], 'value'));
  copyNumber(node, 'maxItems', read(def['maxLength'], 'value'));
  copyNumber(node, 'minItems', exact);
  copyNumber(node, 'maxItems', exact);
  return node;
}

/** Sets, as arrays of distinct items. @internal */
export function setNode(def: Def, walk: Walk): JsonSchemaRecord {
  const node: JsonSchemaRecord = { type: 'array', uniqueItems: true, items: walk.at('*', def['valueType']) };
  copyNumber(node, 'minItems', read(def['minSize'], 'value'));
  copyNumber(node, 'maxItems', read(def['maxSize'], 'value'));
  return node;
}

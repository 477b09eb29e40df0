import { forgetCounts, nativeRealm } from '../binding.js';
import type { CounterSnapshot, MetricLabels } from './types.js';

const NAME_PATTERN = /^[a-z][a-z0-9._-]*$/i;

/** Text of a label value; unlike plain interpolation it survives symbols and objects without `toString`. */
function render(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}

/** The key of a name and its labels, sorted by label name in UTF-16 order. @internal */
export function metricKey(name: string, labels?: MetricLabels): string {
  const names = Object.keys(labels ?? {});
  if (names.length === 0) return name;
  if (names.length > 1) names.sort();
  const pairs = names.map((label) => `${label}=${render(labels?.[label])}`);
  return `${name}{${pairs.join(',')}}`;
}

/**
 * Adds to a counter. A name outside `/^[a-z][a-z0-9._-]*$/i` is dropped without a word.
 *
 * @param labels become part of the key.
 * @param by any number, also negative or fractional; 1 when left out.
 *
 * @example incrementCounter('app.lookups.total', { city: 'Bern' });
 */
export function incrementCounter(name: string, labels?: MetricLabels, by = 1): void {
  if (NAME_PATTERN.test(name)) nativeRealm().increment(metricKey(name, labels), Number(by));
}

/**
 * Sets a gauge. Counters and gauges share their keys; the last writer decides the kind. Bad names
 * are dropped as in {@link incrementCounter}.
 */
export function setGauge(name: string, value: number, labels?: MetricLabels): void {
  if (NAME_PATTERN.test(name)) nativeRealm().setGauge(metricKey(name, labels), Number(value));
}

/**
 * Appends an observation to a histogram, which keeps the newest 10,000 until a reset. Bad names are
 * dropped as in {@link incrementCounter}.
 */
export function observeHistogram(name: string, value: number, labels?: MetricLabels): void {
  if (NAME_PATTERN.test(name)) nativeRealm().observe(metricKey(name, labels), Number(value));
}

/**
 * Everything measured so far in this JavaScript thread, as frozen copies.
 *
 * @example snapshotCounters().counters['tool.retrieval.eager.total']; // 12
 */
export function snapshotCounters(): CounterSnapshot {
  const dump = nativeRealm().dump();
  const counters: Record<string, number> = {};
  const kinds: Record<string, 'counter' | 'gauge'> = {};
  const histograms: Record<string, ReadonlyArray<number>> = {};
  dump.keys.forEach((key, index) => {
    counters[key] = dump.values[index] ?? 0;
    kinds[key] = dump.gauges[index] ? 'gauge' : 'counter';
  });
  dump.histogramKeys.forEach((key, index) => {
    histograms[key] = Object.freeze(dump.histogramValues[index] ?? []);
  });
  return Object.freeze({
    counters: Object.freeze(counters),
    histograms: Object.freeze(histograms),
    kinds: Object.freeze(kinds),
  });
}

/** Forgets every counter, gauge and histogram of this JavaScript thread. For tests. */
export function resetCountersForTesting(): void {
  nativeRealm().reset();
  forgetCounts();
}

/** The counter or gauge under a name and labels, 0 when there is none. For tests. */
export function getCounterForTesting(name: string, labels?: MetricLabels): number {
  return nativeRealm().counter(metricKey(name, labels));
}

/** The observations under a name and labels, oldest first, empty when there are none. For tests. */
export function getHistogramForTesting(name: string, labels?: MetricLabels): readonly number[] {
  return nativeRealm().histogram(metricKey(name, labels));
}

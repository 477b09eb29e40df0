/** P65: worker threads, their termination in mid-call, and the package loaded twice. */
import { expect, it } from 'vitest';
import { child } from '../executor/child.js';

interface Report {
  readonly codes: number[];
  readonly reports: { readonly id: number; readonly ok: number; readonly counted: number }[];
  readonly own: number;
  readonly counted: number;
}

it('P65, spec 04 section 9.10 point 35: eight workers, four terminated with calls in flight', async () => {
  const { report } = await child<Report>('workers');
  expect(report.codes.filter((_, id) => id % 2 === 0)).toEqual([0, 0, 0, 0]);
  expect(report.reports.map(({ id }) => id).sort()).toEqual([0, 2, 4, 6]);
  // The others finish, and every thread counts for itself.
  for (const { id, ok, counted } of report.reports) expect([ok, counted]).toEqual([50 + id, 50 + id]);
  expect([report.own, report.counted]).toEqual([40, 40]);
}, 120_000);

it('P65, spec 04 section 9.10 point 35: the package from two folders is two sets', async () => {
  const { report } = await child('twice');
  expect(report).toEqual({ a: 30, b: 20, counted: [30, 20], distinct: true });
}, 120_000);

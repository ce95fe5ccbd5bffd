import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Costs,
  type Fleet,
  mostWorkers,
  predict,
  predictOnOneMachine,
} from '../../bench/scale-model.ts';

/** Round numbers in the order of magnitude of the measured ones. */
const COSTS: Costs = {
  api: { create: 0.004, read: 0.0005 },
  worker: { job: 0.01 },
  database: { create: 0.002, job: 0.004, read: 0.0005, upkeep: 0.001 },
  transactions: { create: 0.002, job: 0.003 },
};
const FLEET: Fleet = { apiNodes: 2, workers: 10, workerCores: 8, databaseCores: 4, slots: 1000 };
/** A minute of video. */
const VIDEO = { readsPerJob: 3, mediaCpuSeconds: 40, jobSeconds: 24 };
const NOTHING = { readsPerJob: 0, mediaCpuSeconds: 0, jobSeconds: 0 };

describe('the model of a fleet', () => {
  it('is limited by the workers when jobs are media work', () => {
    const { jobsPerSecond, saturated } = predict(COSTS, FLEET, VIDEO);
    expect(saturated).toBe('workers');
    expect(jobsPerSecond).toBeCloseTo(80 / 40.01, 6);
  });

  it('is limited by the slots of the service, unless there are more of them than the workers need', () => {
    expect(predict(COSTS, { ...FLEET, slots: 15 }, VIDEO)).toMatchObject({
      saturated: 'slots',
      jobsPerSecond: 15 / 24,
    });
  });

  it('is limited by the transactions, which run one at a time, if jobs do nothing', () => {
    const { saturated, limits } = predict(COSTS, { ...FLEET, workers: 100, apiNodes: 10 }, NOTHING);
    expect(saturated).toBe('transactions');
    expect(limits.transactions).toBeCloseTo(200, 6);
  });

  it('is limited by one API node, or by a small database, when jobs are read often', () => {
    const polled = { ...NOTHING, readsPerJob: 100 };
    expect(predict(COSTS, { ...FLEET, apiNodes: 1 }, polled).saturated).toBe('api');
    expect(predict(COSTS, { ...FLEET, apiNodes: 20, databaseCores: 1 }, polled).saturated).toBe('database');
  });

  it('names the number of workers from which another component is saturated', () => {
    const most = mostWorkers(COSTS, FLEET, VIDEO);
    expect(predict(COSTS, { ...FLEET, slots: 1e9, workers: most }, VIDEO).saturated).toBe('workers');
    expect(predict(COSTS, { ...FLEET, slots: 1e9, workers: most + 1 }, VIDEO).saturated).not.toBe('workers');
  });

  it('predicts less for more workers once their renewals and searches use up the database', () => {
    const few = predict(COSTS, { ...FLEET, slots: 1e9, workers: 1000 }, VIDEO);
    const many = predict(COSTS, { ...FLEET, slots: 1e9, workers: 3990 }, VIDEO);
    expect(many.jobsPerSecond).toBeLessThan(few.jobsPerSecond);
    expect(many.saturated).toBe('database');
  });

  it('never predicts less for more of another component, nor more than any component allows', () => {
    const count = fc.integer({ min: 1, max: 1000 });
    const fleets = fc.record({
      apiNodes: count,
      workers: count,
      workerCores: count,
      databaseCores: count,
      slots: count,
    });
    fc.assert(
      fc.property(fleets, fc.constantFrom('apiNodes', 'databaseCores', 'slots'), (fleet, part) => {
        const { jobsPerSecond, limits, saturated } = predict(COSTS, fleet, VIDEO);
        const larger = predict(COSTS, { ...fleet, [part]: fleet[part] + 1 }, VIDEO);
        expect(larger.jobsPerSecond).toBeGreaterThanOrEqual(jobsPerSecond);
        expect(jobsPerSecond).toBe(Math.min(...Object.values(limits)));
        expect(limits[saturated]).toBe(jobsPerSecond);
      }),
    );
  });

  it('on one machine adds up the costs of all components', () => {
    expect(predictOnOneMachine(COSTS, 2, NOTHING)).toBeCloseTo(2 / (0.004 + 0.002 + 0.01 + 0.004), 6);
    expect(predictOnOneMachine(COSTS, 2, VIDEO)).toBeLessThan(2 / 40);
  });

  it('on one machine with many cores is limited by the transactions too', () => {
    expect(predictOnOneMachine(COSTS, 64, NOTHING)).toBeCloseTo(200, 6);
  });
});

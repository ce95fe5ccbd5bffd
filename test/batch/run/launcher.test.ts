import { describe, expect, it } from 'vitest';
import type { BatchEvent } from '../../../src/batch/item.ts';
import { createBudget } from '../../../src/batch/run/budget.ts';
import { createLauncher } from '../../../src/batch/run/launcher.ts';
import { createStopping, Stopped } from '../../../src/batch/run/stopping.ts';
import { linesItem } from './support/items.ts';

/** A clock that stands until it is moved; sleepers are woken when it has come so far. */
function createHandClock() {
  let nowMs = 0;
  const sleepers = new Set<{ until: number; wake: () => void }>();
  return {
    now: () => nowMs,
    sleep: (ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        const sleeper = { until: nowMs + ms, wake: resolve };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', () => {
          sleepers.delete(sleeper);
          reject(signal.reason);
        });
      }),
    asleep: () => sleepers.size,
    move(ms: number) {
      nowMs += ms;
      for (const sleeper of sleepers) {
        if (sleeper.until > nowMs) continue;
        sleepers.delete(sleeper);
        sleeper.wake();
      }
    },
  };
}

async function startLauncher(most: number, maxCredits: number | null = null) {
  const clock = createHandClock();
  const budget = createBudget(maxCredits);
  const events: BatchEvent[] = [];
  const stopping = createStopping(new AbortController().signal, () => undefined);
  const listen = (event: BatchEvent) => void events.push(event);
  const launcher = createLauncher({ runtime: clock, budget, stopping, most, listen });
  const entered: number[] = [];
  const enter = async (order: number) => {
    const place = await launcher.enter(order, linesItem(order), { unit: 'line', quantity: 1 });
    entered.push(order);
    return place;
  };
  return { clock, budget, stopping, launcher, events, enter, entered };
}

/** Long enough for what must not happen to happen, most of the time. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setTimeout(resolve, 1));
}

describe('the launcher', () => {
  it('starts items in the order of the batch, whenever they arrive', async () => {
    const { enter, entered } = await startLauncher(1);
    const first = await enter(7);
    const others = [5, 3, 4].map(enter);
    await settle();
    expect(entered).toEqual([7]);
    first.leave();
    for (const [turn] of others.entries()) {
      await expect.poll(() => entered).toHaveLength(turn + 2);
      const place = await others[entered.at(-1) === 3 ? 1 : entered.at(-1) === 4 ? 2 : 0];
      place?.leave();
    }
    expect(entered).toEqual([7, 3, 4, 5]);
  });

  it('waits after a refusal by the service, then tries one', async () => {
    const { clock, enter, entered } = await startLauncher(15);
    const refused = await enter(0);
    refused.putBack(10_000);
    const again = [0, 1].map(enter);
    await expect.poll(() => clock.asleep()).toBe(1);
    expect(entered).toEqual([0]);
    clock.move(9_999);
    await settle();
    expect(entered).toEqual([0]);
    clock.move(1);
    await expect.poll(() => entered).toEqual([0, 0]);
    clock.move(20_000);
    await expect.poll(() => entered).toEqual([0, 0, 1]);
    for (const place of again) (await place).leave();
  });

  it('starts the others once the price of the first is known', async () => {
    const { budget, launcher, enter, entered, stopping } = await startLauncher(15, 2);
    const first = await enter(0);
    const others = [1, 2].map((order) => enter(order).catch((error: unknown) => error));
    await settle();
    expect(entered).toEqual([0]);
    const bill = { status: 'reserved', quantity: 1, reserved_credits: 1, charged_credits: 0 };
    budget.bill(linesItem(0).key, 'subtitle_translation', bill);
    launcher.lookAgain();
    await expect.poll(() => entered).toEqual([0, 1]);
    budget.bill(linesItem(1).key, 'subtitle_translation', bill);
    launcher.lookAgain();
    expect(await others[1]).toBeInstanceOf(Stopped);
    expect(stopping.reason).toBe('max-credits');
    first.leave();
  });

  it('counts jobs that ran before it started', async () => {
    const { launcher, enter, entered } = await startLauncher(2);
    const found = [launcher.join(), launcher.join()];
    const next = enter(0);
    await settle();
    expect(entered).toEqual([]);
    found[0]?.leave();
    await expect.poll(() => entered).toEqual([0]);
    found[1]?.leave();
    (await next).leave();
  });

  it('releases every slot, and reports each change', async () => {
    const { enter, events, launcher } = await startLauncher(15);
    for (let round = 0; round < 3; round += 1) {
      const places = await Promise.all(Array.from({ length: 15 }, (_, order) => enter(order)));
      for (const place of places) place.leave();
    }
    const extra = launcher.join();
    extra.withdraw();
    extra.withdraw();
    expect(events.at(-1)).toEqual({ type: 'window', size: 15, inFlight: 0 });
  });

  it('rejects waiting items when the run stops', async () => {
    const { enter, stopping } = await startLauncher(1);
    const first = await enter(0);
    const waiting = enter(1);
    stopping.stop('no-credits');
    await expect(waiting).rejects.toBeInstanceOf(Stopped);
    await expect(enter(2)).rejects.toBeInstanceOf(Stopped);
    first.leave();
  });
});

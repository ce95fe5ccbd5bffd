import { describe, expect, it } from 'vitest';
import { SYSTEM_RUNTIME } from '../../../src/client/runtime.ts';
import { until } from '../../service/harness/scene.ts';
import { openInbox, untilTold, WATCHING } from '../support/open-inbox.ts';

const HOUR_MS = 60 * 60_000;

describe('the limits of a watch', () => {
  it('pays with --fresh for earlier items again, and for nothing twice', async () => {
    const scene = await openInbox();
    await scene.put('talk.srt');
    expect((await scene.run(WATCHING.slice(0, -1))).code).toBe(0);
    const second = await scene.watch(['--fresh', '--clobber']);
    second.goOn();
    await untilTold(second, 'talk.es.srt');
    expect(await scene.countJobs()).toBe(2);
    await scene.put('talk.srt');
    await scene.put('other.srt');
    await scene.untilResult('other.es.srt');
    await second.stop();
    expect(await scene.countJobs()).toBe(3);
  });

  it('ends with 6 when the next job would cost more than --max-credits', async () => {
    const scene = await openInbox();
    await scene.put('a.srt');
    const watch = await scene.watch(['--max-credits', '1']);
    watch.goOn();
    await scene.untilResult('a.es.srt');
    await scene.put('b.srt');
    const { code, stderr } = await watch.ended;
    expect(code).toBe(6);
    expect(stderr).toContain('--max-credits');
    expect(await scene.countJobs()).toBe(1);
  });

  it.each([
    [0, 'is finished', false],
    [3, 'is not started', true],
  ])('ends after --max-duration with %d when a file that arrived %s', async (expected, _, isLeft) => {
    const scene = await openInbox();
    let end = () => {};
    const hour = new Promise<void>((resolve) => {
      end = resolve;
    });
    const { sleep } = SYSTEM_RUNTIME;
    const runtime = {
      sleep: (ms: number, signal?: AbortSignal) => (ms === HOUR_MS ? hour : sleep(Math.min(ms, 10), signal)),
    };
    const words = ['--max-duration', '1h', '--jobs', '1', '-o', 'ndjson'];
    const watch = await scene.watch(words, { pace: { runtime } });
    watch.goOn();
    await scene.put('a.srt');
    await scene.untilResult('a.es.srt');
    scene.engines.hold();
    if (isLeft) {
      await scene.put('b.srt');
      await scene.put('c.srt');
      await until(
        watch.stdout,
        (lines) => /b\.srt.*"waiting"/.test(lines) && /c\.srt.*"waiting"/.test(lines),
      );
      await until(scene.countJobs, (jobs) => jobs === 2);
    }
    end();
    await untilTold(watch, 'the --max-duration limit was reached');
    scene.engines.letGo();
    const { code, stderr } = await watch.ended;
    expect(code, stderr).toBe(expected);
    expect(await scene.countJobs()).toBe(isLeft ? 2 : 1);
  });
});

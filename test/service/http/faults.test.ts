import { expect, test } from 'vitest';
import type { ServiceResponse } from '../../../src/service/http/exchange.ts';
import type { Faults } from '../../../src/service/index.ts';
import { send } from '../harness/caller.ts';
import { DUBBING, startScene, untilJob } from '../harness/scene.ts';

test('the file of an answer that is dropped is closed', async () => {
  const files: ServiceResponse['body'][] = [];
  const faults: Faults = {
    before: async () => null,
    after: async (_facts, answer) => {
      if (answer.body === null || typeof answer.body === 'string') return answer;
      files.push(answer.body);
      return 'drop';
    },
  };
  const { caller } = await startScene({ faults });
  const job = await untilJob(caller, (await caller.post('/v1/dubbings', DUBBING)).json, 'succeeded');
  await expect(send(job.result.audio.url)).rejects.toThrow('socket hang up');
  expect(files).toMatchObject([{ handle: { fd: -1 } }]);
});

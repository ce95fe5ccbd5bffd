/** The inputs that a job accepts. */
import assert from 'node:assert/strict';
import { expectProblem, expectStatus } from '../expect/answer.ts';
import { LOGIN_NAME } from '../media/host.ts';
import { KINDS } from '../operations.ts';
import { openReachable, reachablePlace } from '../prepare/events.ts';
import { type Body, bodyFor, create, createBriefly, finish, hasEnded } from '../prepare/jobs.ts';
import { bodyFromUpload } from '../prepare/operations.ts';
import { goodSubtitleFile, linesOf, subtitleFile } from '../prepare/subtitles.ts';
import { readySubtitle, readyVideo, reserve, validate } from '../prepare/uploads.ts';
import { type Rule, section } from '../rule.ts';
import type { ServiceUnderTest } from '../service.ts';
import type { Incoming } from '../wire/exchange.ts';
import { numberAt, textAt } from '../wire/json.ts';

const rule = section('inputs');

/** URLs that point to the service's own network, or to no network. */
const UNUSABLE_ADDRESSES = [
  '/etc/passwd',
  'file:///etc/passwd',
  'http://media.example.com/a.mp4',
  'https://localhost/a.mp4',
  'https://127.0.0.1/a.mp4',
  'https://2130706433/a.mp4',
  'https://[::1]/a.mp4',
  'https://[::ffff:127.0.0.1]/a.mp4',
  'https://10.0.0.1/a.mp4',
  'https://169.254.169.254/latest/meta-data/',
  'https://[fd00::1]/a.mp4',
  'https://intranet/a.mp4',
  'https://user:password@media.example.com/a.mp4',
];

/** Addresses that some programs read as one host and others as another one. */
const AMBIGUOUS_ADDRESSES = [
  'https://media.example.com\\@127.0.0.1/a.mp4',
  'https://media.exam\tple.com/a.mp4',
];

const SECOND_MS = 1000;

/** A create request with an unusable input is refused, or its job fails. The embedded service refuses it. */
async function expectUnusable(service: ServiceUnderTest, path: string, body: Body, what: string) {
  const answer = await service.caller.post(path, body);
  if (service.strict || answer.status !== 202) {
    assert.ok([400, 422].includes(answer.status), `${what} was answered with ${answer.status}`);
    expectProblem(service, answer, [400, 422]);
    return;
  }
  const job = `${path}/${textAt(answer.json, 'id')}`;
  const last = await service.until(`the job on ${what} to end`, () => service.caller.get(job), hasEnded);
  assert.equal(textAt(last.json, 'status'), 'failed', what);
}

/** Returns a URL on the host of the run's video. */
function addressBeside({ supplies }: ServiceUnderTest, name: string): string {
  return new URL(name, supplies.mediaUrl ?? '').href;
}

/** Returns the last answer of a separation of the file at a URL. `meanwhile` is called while waiting. */
async function separateFrom(
  service: ServiceUnderTest,
  url: string | null,
  meanwhile: () => unknown = () => {},
): Promise<Incoming> {
  const { path } = await create(service, 'audio_separation', { body: { source: { type: 'url', url } } });
  const ask = async () => {
    await meanwhile();
    return service.caller.get(path);
  };
  return service.until('the job to end', ask, hasEnded);
}

/** The same for a URL without a file. If the clock can be moved, it does not wait for further attempts. */
function separateFromNothing(service: ServiceUnderTest, name: string): Promise<Incoming> {
  return separateFrom(service, addressBeside(service, name), () => service.admin?.advance(SECOND_MS));
}

export const INPUT_RULES: readonly Rule[] = [
  rule('spec', 'unusable-addresses', {
    title: 'local paths and addresses of internal networks are not usable as a video',
    covers: ['behavior.unusable-inputs', 'behavior.inputs'],
    needs: ['jobs'],
    async check(service) {
      for (const url of [...UNUSABLE_ADDRESSES, ...AMBIGUOUS_ADDRESSES]) {
        await expectUnusable(service, KINDS.audio_separation.path, { source: { type: 'url', url } }, url);
      }
    },
  }),
  rule('spec', 'unusable-subtitle-addresses', {
    title: 'local paths and addresses of internal networks are not usable as subtitles',
    covers: ['behavior.unusable-inputs', 'behavior.inputs'],
    needs: ['jobs'],
    async check(service) {
      const body = await bodyFor(service, 'dubbing');
      for (const url of ['/etc/passwd', 'http://media.example.com/a.srt', 'https://127.0.0.1/a.srt']) {
        const changed = { ...body, subtitle: { type: 'url', url } };
        await expectUnusable(service, KINDS.dubbing.path, changed, url);
      }
    },
  }),
  rule('contract', 'plain-http', {
    title: 'an address that is not https is refused with 422, like every other unusable input',
    covers: ['behavior.unusable-inputs', 'error.open-codes'],
    needs: ['jobs'],
    async check(service) {
      const dubbing = await bodyFor(service, 'dubbing');
      for (const scheme of ['http', 'ftp']) {
        const source = { type: 'url', url: `${scheme}://media.example.com/a` };
        const { caller } = service;
        const answers = [
          await caller.post(KINDS.audio_separation.path, { source }),
          await caller.post(KINDS.dubbing.path, { ...dubbing, subtitle: source }),
        ];
        for (const answer of answers) expectProblem(service, answer, 422, 'INPUT_NOT_USABLE');
      }
    },
  }),
  rule('spec', 'public-address', {
    title: 'a public https address of a video is usable',
    covers: ['behavior.inputs'],
    needs: ['jobs', 'mediaUrl'],
    async check(original) {
      const service = await reachablePlace(original);
      const last = await separateFrom(service, service.supplies.mediaUrl);
      assert.equal(textAt(last.json, 'status'), 'succeeded');
    },
  }),
  rule('spec', 'missing-address', {
    title: 'a job on a missing address fails, and costs nothing',
    covers: ['behavior.inputs', 'failed.conditions', 'billing.state'],
    needs: ['jobs', 'mediaUrl'],
    async check(original) {
      const service = await openReachable(original);
      const last = await separateFromNothing(service, 'no-such-video.mp4');
      assert.equal(textAt(last.json, 'status'), 'failed');
      if (!service.strict) return;
      assert.equal(textAt(last.json, 'error', 'code'), 'SOURCE_UNREACHABLE');
      assert.equal(textAt(last.json, 'billing', 'status'), 'released');
      assert.equal(numberAt(last.json, 'billing', 'charged_credits'), 0);
    },
  }),
  rule('spec', 'missing-subtitle-address', {
    title: 'a missing address of subtitles is not usable, and costs nothing',
    covers: ['behavior.inputs', 'behavior.unusable-inputs'],
    needs: ['jobs', 'mediaUrl'],
    async check(original) {
      const service = await openReachable(original);
      const url = addressBeside(service, 'no-such-subtitle.srt');
      for (const kind of ['subtitle_translation', 'dubbing'] as const) {
        const body = { ...(await bodyFor(service, kind)), subtitle: { type: 'url', url } };
        await expectUnusable(service, KINDS[kind].path, body, url);
      }
      if (!service.strict) return;
      const { json } = await service.caller.get('/credits');
      assert.equal(numberAt(json, 'reserved_credits'), 0);
    },
  }),
  rule('spec', 'login-address', {
    title: 'a job on an address that asks for a login fails',
    covers: ['behavior.unusable-inputs', 'failed.conditions'],
    needs: ['jobs', 'mediaUrl', 'engines'],
    async check(original) {
      const service = await openReachable(original);
      const last = await separateFromNothing(service, LOGIN_NAME);
      assert.equal(textAt(last.json, 'status'), 'failed');
    },
  }),
  rule('spec', 'ready-subtitle', {
    title: 'a ready subtitle upload is usable for translation and dubbing',
    covers: ['behavior.inputs', 'upload.only-ready', 'limit.subtitle-input'],
    needs: ['jobs'],
    async check(service) {
      const { id } = await readySubtitle(service);
      for (const kind of ['subtitle_translation', 'dubbing'] as const) {
        const body = bodyFromUpload(service, kind, id);
        const { last } = await finish(service, kind, { body });
        assert.equal(textAt(last.json, 'status'), 'succeeded', kind);
      }
    },
  }),
  rule('spec', 'unready', {
    title: 'a waiting and a failed upload are refused as input',
    covers: ['upload.only-ready', 'behavior.reservation-not-usable'],
    needs: ['jobs'],
    async check(service) {
      const waiting = await reserve(service.caller, goodSubtitleFile(service));
      const failed = await validate(service, subtitleFile('no subtitle'));
      for (const { id } of [waiting, failed]) {
        const answer = await service.caller.post(KINDS.dubbing.path, bodyFromUpload(service, 'dubbing', id));
        expectProblem(service, answer, service.strict ? 422 : [400, 404, 409, 422], 'INPUT_NOT_USABLE');
      }
    },
  }),
  rule('contract', 'wrong-purpose', {
    title: 'an upload of the other purpose is refused as input',
    covers: ['shape.other-requests', 'upload.purpose'],
    needs: ['jobs', 'media'],
    async check(service) {
      const { caller } = service;
      const subtitle = await readySubtitle(service);
      const video = await readyVideo(service);
      const separation = bodyFromUpload(service, 'audio_separation', subtitle.id);
      const dubbing = bodyFromUpload(service, 'dubbing', video.id);
      const answers = [
        await caller.post(KINDS.audio_separation.path, separation),
        await caller.post(KINDS.dubbing.path, dubbing),
      ];
      for (const answer of answers) expectProblem(service, answer, 422, 'INPUT_NOT_USABLE');
    },
  }),
  rule('spec', 'one-video', {
    title: 'a task has one video, not a list of them',
    covers: ['limit.one-video', 'behavior.create'],
    needs: ['media'],
    async check(service) {
      const { source } = await bodyFor(service, 'audio_separation');
      const answer = await service.caller.post(KINDS.audio_separation.path, { source: [source, source] });
      expectProblem(service, answer, service.strict ? 400 : [400, 422], 'INVALID_REQUEST');
    },
  }),
  rule('spec', '10000-lines', {
    title: '10,000 structured lines are accepted',
    covers: ['limit.subtitle-input'],
    needs: ['jobs'],
    async check(service) {
      const lines = linesOf(Array.from({ length: 10_000 }, () => 'a'));
      const { answer } = await createBriefly(service, 'dubbing', {
        extra: { subtitle: { type: 'lines', lines } },
      });
      expectStatus(answer, 202);
    },
  }),
  rule('spec', '10001-lines', {
    title: '10,001 structured lines are refused',
    covers: ['limit.subtitle-input'],
    needs: ['jobs'],
    async check(service) {
      const lines = linesOf(Array.from({ length: 10_001 }, () => 'a'));
      const body = { ...(await bodyFor(service, 'dubbing')), subtitle: { type: 'lines', lines } };
      const answer = await service.caller.post(KINDS.dubbing.path, body);
      const statuses = service.strict ? 422 : [400, 413, 422];
      expectProblem(service, answer, statuses, 'SUBTITLE_VALIDATION_FAILED');
    },
  }),
];

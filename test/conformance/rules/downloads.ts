/** Download URLs: usable without a key, exact, and expiring. */
import assert from 'node:assert/strict';
import { expectStatus, headerOf } from '../expect/answer.ts';
import { KINDS } from '../operations.ts';
import {
  addressOf,
  expiryOf,
  fetchAddress,
  fetchAssets,
  fetchSubtitle,
  leadsElsewhere,
  sha256Of,
} from '../prepare/assets.ts';
import { finish, finishedJob, possibleKinds } from '../prepare/jobs.ts';
import { type Rule, section } from '../rule.ts';
import { adminOf } from '../service.ts';
import { instantAt, numberAt, textAt, valueAt } from '../wire/json.ts';

const rule = section('downloads');

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * 60_000;

export const DOWNLOAD_RULES: readonly Rule[] = [
  rule('spec', 'readable', {
    title: 'every result can be fetched from its address and is not empty',
    covers: ['transition.succeeded', 'item.summary'],
    needs: ['jobs'],
    async check(service) {
      for (const kind of possibleKinds(service)) {
        const { assets } = await fetchAssets(service, kind);
        for (const { answer, name } of assets) assert.notEqual(answer.bytes.length, 0, `${kind} ${name}`);
      }
    },
  }),
  rule('spec', 'expires-at', {
    title: 'every result has an expiry in the future',
    covers: ['result.expires-at', 'limit.link-lifetime'],
    needs: ['jobs'],
    async check(service) {
      for (const kind of possibleKinds(service)) {
        const { job, assets } = await fetchAssets(service, kind);
        for (const { asset, name } of assets) {
          assert.ok(expiryOf(job.last.json, asset) > service.now(), `${kind} ${name}`);
        }
      }
    },
  }),
  rule('contract', 'lifetime', {
    title: 'addresses work for 24 hours from the end of the job, according to both asset and job',
    covers: ['result.lifetime', 'limit.link-lifetime', 'job.fields'],
    needs: ['jobs'],
    async check(service) {
      const { last } = await finishedJob(service, 'dubbing');
      const expiry = instantAt(last.json, 'expires_at');
      assert.equal(expiry - instantAt(last.json, 'finished_at'), 24 * HOUR_MS);
      assert.equal(instantAt(last.json, 'result', 'audio', 'expires_at'), expiry);
    },
  }),
  rule('contract', 'facts', {
    title: 'size_bytes, sha256 and content_type are those of the bytes',
    covers: ['job.fields'],
    needs: ['jobs'],
    async check(service) {
      for (const kind of possibleKinds(service)) {
        const { assets } = await fetchAssets(service, kind);
        for (const { asset, answer, name } of assets) {
          assert.equal(numberAt(asset, 'size_bytes'), answer.bytes.length, `${kind} ${name}`);
          assert.equal(textAt(asset, 'sha256'), sha256Of(answer.bytes), `${kind} ${name}`);
          assert.equal(headerOf(answer, 'Content-Type').split(';')[0], textAt(asset, 'content_type'));
        }
      }
    },
  }),
  rule('contract', 'range', {
    title: 'a range of a result can be fetched: from the start, from the middle, from the end',
    covers: ['result.expires-at'],
    needs: ['jobs'],
    async check(service) {
      const { url, bytes } = await fetchSubtitle(service, 'subtitle_translation');
      const half = Math.floor(bytes.length / 2);
      const ranges = [
        { range: `bytes=0-${half - 1}`, start: 0, end: half },
        { range: `bytes=${half}-`, start: half, end: bytes.length },
        { range: 'bytes=-5', start: bytes.length - 5, end: bytes.length },
      ];
      for (const { range, start, end } of ranges) {
        const answer = await fetchAddress(url, { Range: range });
        expectStatus(answer, 206);
        assert.deepEqual(answer.bytes, bytes.subarray(start, end), range);
        assert.equal(headerOf(answer, 'Content-Range'), `bytes ${start}-${end - 1}/${bytes.length}`);
      }
      expectStatus(await fetchAddress(url, { Range: `bytes=${bytes.length}-` }), 416);
    },
  }),
  rule('contract', 'etag', {
    title: 'a result has an ETag, which If-None-Match and If-Range use',
    covers: ['result.expires-at'],
    needs: ['jobs'],
    async check(service) {
      const { url, bytes } = await fetchSubtitle(service, 'subtitle_translation');
      const etag = headerOf(await fetchAddress(url), 'ETag');
      expectStatus(await fetchAddress(url, { 'If-None-Match': etag }), 304);
      const same = await fetchAddress(url, { Range: 'bytes=1-', 'If-Range': etag });
      expectStatus(same, 206);
      const other = await fetchAddress(url, { Range: 'bytes=1-', 'If-Range': '"another"' });
      // Some storage does not know If-Range; clients compare the ETag of the answer, too.
      if (leadsElsewhere(service, url) && other.status === 206) return;
      expectStatus(other, 200);
      assert.deepEqual(other.bytes, bytes);
    },
  }),
  rule('contract', 'forged', {
    title: 'an address that was changed in any part leads to nothing',
    covers: ['result.lifetime'],
    needs: ['jobs'],
    async check(service) {
      const { url } = await fetchSubtitle(service, 'subtitle_translation');
      const address = new URL(url);
      const changes = [...address.searchParams.keys()].map((name) => {
        const changed = new URL(url);
        const value = changed.searchParams.get(name) ?? '';
        changed.searchParams.set(
          name,
          value.endsWith('1') ? `${value.slice(0, -1)}2` : `${value.slice(0, -1)}1`,
        );
        return changed.href;
      });
      assert.notEqual(changes.length, 0, 'the address is signed');
      for (const changed of changes) expectStatus(await fetchAddress(changed), 400, 403);
      const unsigned = await fetchAddress(address.origin + address.pathname);
      expectStatus(unsigned, 403, ...(leadsElsewhere(service, url) ? [400] : []));
      expectStatus(await fetchAddress(url, {}, 'DELETE'), 403, 405);
      expectStatus(await fetchAddress(url), 200);
    },
  }),
  rule('spec', 'expiry', {
    title: 'an address works until expires_at, and not after it',
    covers: ['result.expires-at', 'result.lifetime', 'limit.link-lifetime'],
    needs: ['jobs', 'clock'],
    async check(original) {
      const service = await adminOf(original).open();
      const { path, last } = await finish(service, 'subtitle_translation');
      const asset = valueAt(last.json, 'result', 'subtitle');
      const url = addressOf(asset);
      const now = await adminOf(service).freeze();
      await adminOf(service).advance(expiryOf(last.json, asset) - now - SECOND_MS);
      expectStatus(await fetchAddress(url), 200);
      await adminOf(service).advance(2 * SECOND_MS);
      if (!leadsElsewhere(service, url)) return expectStatus(await fetchAddress(url), 410);
      // The clock of other storage cannot be moved, but the service removes the bytes there within a minute.
      await adminOf(service).advance(MINUTE_MS);
      const gone = await service.until(
        'the bytes to be removed',
        () => fetchAddress(url),
        ({ status }) => status !== 200,
      );
      expectStatus(gone, 403, 404, 410);
      expectStatus(await service.caller.get(path), 200);
    },
  }),
  rule('spec', 'retention', {
    title: 'a record exists for at most seven days',
    covers: ['limit.retention'],
    needs: ['jobs', 'clock'],
    async check(original) {
      const service = await adminOf(original).open();
      const job = await finish(service, 'subtitle_translation');
      await adminOf(service).advance(7 * 24 * HOUR_MS - HOUR_MS);
      expectStatus(await service.caller.get(job.path), 200);
      await adminOf(service).advance(2 * HOUR_MS);
      expectStatus(await service.caller.get(job.path), 404);
      const page = await service.caller.get(KINDS[job.kind].path);
      assert.ok(!page.bytes.toString().includes(job.id), 'the list does not show it');
    },
  }),
];

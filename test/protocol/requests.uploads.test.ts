import { describe, expect, it } from 'vitest';
import { checkCompletionRequest, checkUploadRequest } from '../../src/protocol/requests.ts';

const UPLOAD = {
  purpose: 'source_video',
  file_name: 'talk.mp4',
  content_type: 'video/mp4',
  size_bytes: 1,
};

type Answer = ReturnType<typeof checkUploadRequest> | ReturnType<typeof checkCompletionRequest>;
const faultsOf = (checked: Answer) =>
  checked.ok ? [] : checked.errors.map(({ pointer, detail }) => `${pointer}: ${detail}`);
const upload = (change: Record<string, unknown>) => faultsOf(checkUploadRequest({ ...UPLOAD, ...change }));
const completion = (etag: unknown) => faultsOf(checkCompletionRequest({ etag }));

const MD5 = '9e107d9d372bb6826bd81d3542a419d6';

describe('a request for an upload', () => {
  it('is accepted unchanged', () => {
    expect(checkUploadRequest(UPLOAD)).toEqual({ ok: true, value: UPLOAD });
  });

  it.each([
    { purpose: 'subtitle_file' },
    { file_name: 'x' },
    { content_type: 'application/x-subrip' },
    { content_type: 'image/svg+xml' },
    { size_bytes: Number.MAX_SAFE_INTEGER },
    { client_reference: 'talk-7' },
  ])('may have %j', (change) => {
    expect(upload(change)).toEqual([]);
  });

  it.each([
    [{ purpose: 'thumbnail' }, '/purpose: Invalid type'],
    [{ purpose: undefined }, '/purpose: '],
    [{ file_name: '' }, '/file_name: missing'],
    [{ content_type: '' }, '/content_type: not a media type'],
    [{ content_type: 'video' }, '/content_type: not a media type'],
    [{ content_type: 'video/mp4; x=y' }, '/content_type: not a media type'],
    [{ content_type: 'video/mp4\r\nX: y' }, '/content_type: not a media type'],
    [{ size_bytes: 0 }, '/size_bytes: the file is empty'],
    [{ size_bytes: -1 }, '/size_bytes: must not be negative'],
    [{ size_bytes: 1.5 }, '/size_bytes: must be a whole number'],
    [{ size_bytes: 2 ** 53 }, '/size_bytes: must be a whole number'],
    [{ size_bytes: '1' }, '/size_bytes: Invalid type'],
    [{ client_reference: '' }, '/client_reference: at least 1 character'],
    [{ callback_url: 'https://a.example' }, '/callback_url: there is no such field'],
  ])('may not have %j', (change, expected) => {
    expect(upload(change).join('\n')).toContain(expected);
  });

  it.each([
    ['file_name', '字'.repeat(255), 'at most 255 characters'],
    ['content_type', `a/${'b'.repeat(125)}`, 'at most 127 characters'],
    ['client_reference', 'x'.repeat(128), 'at most 128 characters'],
  ])('may have a %s of exactly the maximum', (name, longest, detail) => {
    expect(upload({ [name]: longest })).toEqual([]);
    expect(upload({ [name]: `${longest}x` })).toEqual([`/${name}: ${detail}`]);
  });

  it('is refused without a required field', () => {
    expect(faultsOf(checkUploadRequest({}))[0]).toBe('/purpose: is required');
    for (const name of Object.keys(UPLOAD)) {
      const { [name]: _left, ...rest }: Record<string, unknown> = UPLOAD;
      expect(faultsOf(checkUploadRequest(rest))).toEqual([`/${name}: is required`]);
    }
  });
});

describe('a completion', () => {
  it.each([MD5, `"${MD5}"`, 'a', `${MD5}-12`])('may have the ETag %s', (etag) => {
    expect(checkCompletionRequest({ etag })).toEqual({ ok: true, value: { etag } });
  });

  it.each(['', '""', `"${MD5}`, `${MD5}"`, `W/"${MD5}"`, 'a b', 'a\n'])('may not have %j', (etag) => {
    expect(completion(etag)).toEqual(['/etag: not an ETag']);
  });

  it('may have an ETag of at most 128 characters, without quotes', () => {
    const longest = 'x'.repeat(128);
    for (const right of [longest, `"${longest}"`]) expect(completion(right)).toEqual([]);
    for (const wrong of [`${longest}x`, `"${longest}x"`])
      expect(completion(wrong)).toEqual(['/etag: not an ETag']);
  });

  it('has no other fields', () => {
    expect(completion(7)).toEqual(['/etag: Invalid type: Expected string but received 7']);
    expect(faultsOf(checkCompletionRequest({}))).toEqual(['/etag: is required']);
    expect(faultsOf(checkCompletionRequest({ etag: 'a', part: 1 }))).toEqual([
      '/part: there is no such field',
    ]);
  });
});

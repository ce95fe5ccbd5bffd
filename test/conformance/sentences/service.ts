/** Specification: the opening paragraph and "What the service does". */
import type { Sentences } from './sentence.ts';

export const SERVICE_SENTENCES = {
  'base.version-suffix': '`{base_url}` ends in `/v1`',
  'base.header-names': 'headers with the vendor name are written `X-Service-…`',
  'service.five-capabilities': 'an asynchronous API with five capabilities, each a business resource',
  'service.separation': 'audio separation returns a vocal and a background track, and no processed video',
  'service.recognition': 'subtitle recognition returns subtitles, no video and no dubbing',
  'service.translation':
    'subtitle translation creates no video, dubbing, quality report or terminology report',
  'service.dubbing': 'dubbing assigns voices automatically and produces one time-aligned WAV track',
  'service.localization': 'auto localization returns only a final MP4',
  'service.supporting': 'supporting resources: credits and uploads',
  'service.only-business': 'internal projects, episodes, tasks, voices and exports are not exposed',
  'service.plan-required':
    'the interface works only while the workspace owner holds an active enterprise plan',
  'service.plan-shared': {
    text: 'the plan belongs to the account and is shared with invited users',
    unseen: 'accounts and invitations are not part of the API',
  },
  'service.concurrency': '15 concurrent media tasks, shared by all keys of the workspace',
  'service.create-is-202': 'every create operation is asynchronous and returns 202',
  'service.persisted': '202 means the task is persisted and in the flow, not that a result exists',
  'service.result-by-get': 'the final result is read with the GET of the same resource',
  'service.only-own-result':
    'a capability returns only its own result; no operation returns a quality report',
  'service.keys-by-owner': {
    text: 'keys are created by the account owner or an administrator in the developer area',
    unseen: 'the developer area is not part of the API',
  },
  'service.key-choices': 'a key has capability permissions, a monthly credit quota and an IP allow-list',
  'service.own-records': 'a key sees only records created by that key',
} as const satisfies Sentences;

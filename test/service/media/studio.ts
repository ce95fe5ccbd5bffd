/** A service with the engines of this machine, and a folder for inputs and results. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEngines } from '../../../src/engines/index.ts';
import { makeMedia, rememberingPath } from '../../support/remembered-programs.ts';
import { type Reply, send } from '../harness/caller.ts';
import { finishUpload, openScene, until } from '../harness/scene.ts';

const SAMPLE = join(import.meta.dirname, '../../fixtures/sample.mp4');

/** What the five kinds and the uploads answer with: read freely, as any client would. */
type Json = Reply['json'];

export interface Studio {
  readonly folder: string;
  /** Sends a file, waits until it is validated, and returns the upload's id; throws if the file is not usable. */
  upload(path: string, purpose: 'source_video' | 'subtitle_file'): Promise<string>;
  /** The same, whatever validation says: returns the upload in its last state. */
  validate(path: string, purpose: 'source_video' | 'subtitle_file'): Promise<Json>;
  /** Creates a job of the kind with that path and waits for its end, whatever it is. */
  finish(path: string, body: Record<string, unknown>): Promise<Json>;
  /** The same; throws when it does not succeed. */
  run(path: string, body: Record<string, unknown>): Promise<Json>;
  /** Fetches an asset into the folder, compares it with its description, and returns its path. */
  fetch(asset: Json, name: string): Promise<string>;
  get(path: string): Promise<Json>;
  /** The engine of each step of a job. */
  enginesOf(job: Json): Promise<string[]>;
  post(path: string, body: Record<string, unknown>): Promise<Reply>;
  close(): Promise<void>;
}

/** All jobs of a file together take half a minute; ten times that on a machine that is busy with other things. */
export const PATIENCE = { timeout: 300_000 };
const PATIENCE_MS = PATIENCE.timeout - 10_000;

/** Opens a studio; its owner closes it. @param options default: the built-in engines */
export async function openStudio(options?: Parameters<typeof createEngines>[0]): Promise<Studio> {
  const folder = await mkdtemp(join(tmpdir(), 'vloc-studio-'));
  const engines = createEngines({ searchPath: rememberingPath(), ...options });
  const { service, caller } = await openScene({ stateDir: join(folder, 'state'), engines });

  async function validate(path: string, purpose: 'source_video' | 'subtitle_file'): Promise<Json> {
    return finishUpload(caller, await readFile(path), purpose);
  }

  async function finish(path: string, body: Record<string, unknown>): Promise<Json> {
    const { status, json } = await caller.post(`/v1/${path}`, body);
    if (status !== 202) throw new Error(JSON.stringify(json));
    const isOver = (job: Reply) => !['queued', 'processing'].includes(job.json.status);
    return (await until(() => caller.get(json.detail_url), isOver, PATIENCE_MS)).json;
  }

  return {
    folder,
    validate,
    finish,
    async upload(path, purpose) {
      const upload = await validate(path, purpose);
      if (upload.status !== 'ready') throw new Error(JSON.stringify(upload.error));
      return upload.id;
    },
    async run(path, body) {
      const job = await finish(path, body);
      if (job.status !== 'succeeded') throw new Error(JSON.stringify(job.error));
      return job;
    },
    async fetch(asset, name) {
      const { status, bytes, headers } = await send(asset.url);
      const seen = { status, size_bytes: bytes.length, content_type: headers['content-type'] };
      const said = { status: 200, size_bytes: asset.size_bytes, content_type: asset.content_type };
      if (JSON.stringify(seen) !== JSON.stringify(said)) throw new Error(`${name}: ${JSON.stringify(seen)}`);
      const path = join(folder, name);
      await writeFile(path, bytes);
      return path;
    },
    async enginesOf({ id }) {
      const provenance = await service.readProvenance(id);
      return provenance?.engines.map(({ step, engine }) => `${step}: ${engine}`) ?? [];
    },
    get: async (path) => (await caller.get(`/v1/${path}`)).json,
    post: (path, body) => caller.post(`/v1/${path}`, body),
    async close() {
      await service.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The sample's first seconds, cut without encoding. 8.6 s hold the first clip, 12.6 s the first two. */
export function cutSample(folder: string, seconds: number): string {
  const path = join(folder, `sample-${seconds}.mp4`);
  makeMedia('-i', SAMPLE, '-t', String(seconds), '-c', 'copy', path);
  return path;
}

/** The second clip alone: 0.9 s of music, 3 s of speech, half a second of music. Options choose the picture's coding. */
export function secondClip(folder: string, name: string, ...options: string[]): string {
  const path = join(folder, name);
  const picture = ['-c:v', 'libx264', '-preset', 'ultrafast', ...options];
  makeMedia('-ss', '8.2', '-i', SAMPLE, '-t', '4.4', ...picture, '-c:a', 'aac', '-b:a', '160k', path);
  return path;
}

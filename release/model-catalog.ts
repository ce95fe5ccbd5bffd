/**
 * Compares the catalogue of models with the hub and with the releases that its addresses name.
 *
 *   node release/model-catalog.ts --check            prints what differs in size or SHA-256; exit code 1 if anything does
 *   node release/model-catalog.ts --write [ID...]    writes the sizes and hashes of these models, or of all, into the catalogue
 *
 * To add a model or to take another commit, write the addresses first, with any size and hash. HF_ENDPOINT names a mirror of
 * the hub, HF_TOKEN a token for it. Large files of the hub, and files of releases, state their SHA-256; others are downloaded.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const CATALOG = fileURLToPath(new URL('../src/engines/models/catalog.json', import.meta.url));

/** The part of the catalogue that this script reads and writes. */
interface Catalog {
  readonly models: readonly { readonly id: string; readonly files: CatalogFile[] }[];
}

interface CatalogFile {
  readonly path: string;
  readonly url: string;
  bytes: number;
  sha256: string;
}

/** What is really at an address. */
interface FoundFile {
  readonly bytes: number;
  readonly sha256: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

const HUB = 'https://huggingface.co';
const ON_HUB = /^https:\/\/huggingface\.co\/([^/]+\/[^/]+)\/resolve\/([0-9a-f]{40})\/(.+)$/;
const IN_RELEASE = /^https:\/\/github\.com\/([^/]+\/[^/]+)\/releases\/download\/([^/]+)\/(.+)$/;

/** Creates the function that looks up an address; it reads each list of files once. @throws Error for a bad answer */
function createLookup(env: Environment): (url: string) => Promise<FoundFile> {
  const endpoint = (env.HF_ENDPOINT ?? HUB).replace(/\/+$/, '');
  const token = env.HF_TOKEN;
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const lists = new Map<string, Promise<ReadonlyMap<string, string | null>>>();
  const once = (key: string, read: () => Promise<ReadonlyMap<string, string | null>>) => {
    const list = lists.get(key) ?? read();
    lists.set(key, list);
    return list;
  };

  /** SHA-256 of each path of a commit, null where the hub does not state it. */
  async function listCommit(repository: string, commit: string): Promise<ReadonlyMap<string, string | null>> {
    const found = new Map<string, string | null>();
    let next: string | null = `${endpoint}/api/models/${repository}/tree/${commit}?recursive=true`;
    while (next !== null) {
      const answer: Response = await get(next, authorization);
      const page = (await answer.json()) as { path: string; lfs?: { oid: string } }[]; // documented by the hub
      for (const { path, lfs } of page) found.set(path, lfs?.oid ?? null);
      next = /<([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1] ?? null;
    }
    return found;
  }

  /** The same of a release, by the names of its files. */
  async function listRelease(repository: string, tag: string): Promise<ReadonlyMap<string, string | null>> {
    const answer = await get(`https://api.github.com/repos/${repository}/releases/tags/${tag}`, {});
    const { assets } = (await answer.json()) as { assets: { name: string; digest: string | null }[] }; // documented by GitHub
    return new Map(assets.map(({ name, digest }) => [name, digest?.replace('sha256:', '') ?? null]));
  }

  return async (url) => {
    const [, repository = '', commit = '', path = ''] = ON_HUB.exec(url) ?? [];
    const [, project = '', tag = '', name = ''] = IN_RELEASE.exec(url) ?? [];
    if (repository === '' && project === '')
      throw new Error('neither of a commit of the hub nor of a release');
    const stated =
      repository === ''
        ? (await once(`${project} ${tag}`, () => listRelease(project, tag))).get(name)
        : (await once(`${repository} ${commit}`, () => listCommit(repository, commit))).get(path);
    if (stated === undefined) throw new Error('not there');
    const address = repository === '' ? url : endpoint + url.slice(HUB.length);
    const headers = repository === '' ? {} : authorization;
    // The size is that of the answer which users get.
    if (stated !== null) return { sha256: stated, bytes: await readSize(address, headers) };
    const body = Buffer.from(await (await get(address, headers)).arrayBuffer());
    return { sha256: createHash('sha256').update(body).digest('hex'), bytes: body.length };
  };
}

/** A redirect to another origin does not get the token: `fetch` removes the header there. */
async function get(
  url: string,
  headers: Readonly<Record<string, string>>,
  method = 'GET',
): Promise<Response> {
  const answer = await fetch(url, { headers: { ...headers, 'accept-encoding': 'identity' }, method });
  if (answer.ok) return answer;
  throw new Error(`status ${answer.status} from ${new URL(url).host}`);
}

async function readSize(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  return Number((await get(url, headers, 'HEAD')).headers.get('content-length'));
}

/** Differences, one line each. @param write replaces sizes and hashes in the catalogue */
export async function compareCatalog(
  catalog: Catalog,
  env: Environment,
  write = false,
): Promise<readonly string[]> {
  const lookUp = createLookup(env);
  const lines: string[] = [];
  for (const { id, files } of catalog.models) {
    for (const file of files) {
      const name = `${id}/${file.path}`;
      try {
        const { bytes, sha256 } = await lookUp(file.url);
        if (bytes !== file.bytes) lines.push(`${name}: ${file.bytes} bytes in the catalogue, ${bytes} there`);
        if (sha256 !== file.sha256)
          lines.push(`${name}: SHA-256 ${file.sha256} in the catalogue, ${sha256} there`);
        if (write) Object.assign(file, { bytes, sha256 });
      } catch (error) {
        lines.push(`${name}: ${error instanceof Error ? error.message : String(error)}: ${file.url}`);
      }
    }
  }
  return lines;
}

async function run(): Promise<number> {
  const options = { check: { type: 'boolean' }, write: { type: 'boolean' } } as const;
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  if (values.check === values.write) throw new Error('give --check or --write');
  const whole: Catalog = JSON.parse(readFileSync(CATALOG, 'utf8'));
  const models = whole.models.filter(({ id }) => positionals.length === 0 || positionals.includes(id));
  const lines = await compareCatalog({ models }, process.env, values.write);
  for (const line of lines) process.stdout.write(`${line}\n`);
  if (values.write === true) writeFileSync(CATALOG, `${JSON.stringify(whole, null, 2)}\n`);
  return values.check === true && lines.length > 0 ? 1 : 0;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.exitCode = await run();

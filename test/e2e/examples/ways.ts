/** How the examples run that do not just run and end with 0. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { saveEnginesFile } from '../../../src/engines/config-file.ts';
import { createEngines } from '../../../src/engines/index.ts';
import { eventBody, sign } from '../../client/webhooks/sign.ts';
import { send, untilListening } from '../../commands/support/listening.ts';
import { PROGRAMS } from '../../commands/support/run-engines.ts';
import { writeTinyVoice } from '../../engines/backends/sherpa/tiny-models.ts';
import { nodeScript } from '../../engines/backends/user-program.ts';
import { until } from '../../service/harness/scene.ts';
import { startPlain } from '../../service/outgoing/outside.ts';
import { openTerminal } from '../../support/pseudo-terminal.ts';
import { type Ended, type Running, startMain } from '../../support/run-main.ts';
import { type Desk, splitWords } from './desk.ts';
import { WEBHOOK_SECRET } from './prepare.ts';

export interface Way {
  /** Why it is not enough to run the line and expect 0. */
  readonly reason: string;
  /** The exit code that the help of the command names for what the example meets. */
  readonly code?: number;
  /** Program that the example is for; without it on this machine the test is skipped. */
  readonly needs?: string;
  /** Says why it must not run on this machine; null when it may. */
  readonly hindrance?: () => Promise<string | null>;
  readonly run?: (desk: Desk, line: string) => Promise<Ended>;
}

const STANDING = { reason: 'it serves until it is stopped', run: runUntilServing };
const FAILED_ITEM = { reason: 'one item of the batch has failed, as `--help` says', code: 3 };
const LISTING = { reason: 'the jobs go on once they are listed', run: letGoWhenListed };
const WATCHING = { reason: 'it watches until it is stopped', code: 130, run: runUntilLocalized };
const UNTRIED = { reason: 'its server or program is not here', run: addUntried };
const CONFIGURED = { reason: 'it needs configured engines', run: runConfigured };
const NO_DATABASE = {
  reason: 'its database is not here; test/cluster moves accounts to a real one',
  code: 4,
};
const INSTALLING = { reason: 'it would change this machine', hindrance: findMissingEngines };

export const WAYS: Readonly<Record<string, Way>> = {
  'vloc jobs list --kind dubbing --status processing --all -o id | vloc jobs wait -': LISTING,
  'vloc jobs list --status processing --all -o id | vloc jobs wait - --out out': LISTING,
  'vloc localize inbox --to es --out out --watch': WATCHING,
  'vloc serve migrate --from /var/lib/vloc --to postgres://vloc@db.example.com/vloc': NO_DATABASE,
  'vloc serve migrate --from postgres://vloc@db.example.com/vloc --to /var/lib/vloc': NO_DATABASE,
  'vloc serve migrate --from /var/lib/vloc --to postgres://vloc@db.example.com/vloc --storage s3://vloc-videos?region=eu-central-1':
    NO_DATABASE,
  'vloc batch status out': FAILED_ITEM,
  'vloc batch status out --watch': FAILED_ITEM,
  'vloc batch status out -o json --jq ".items[] | select(.state == \\"failed\\") | .label"': FAILED_ITEM,
  'vloc webhooks listen --port 4242 --forward-to localhost:3000/hook': {
    reason: 'it listens until it is stopped, and needs a receiver behind it',
    run: listenAndForward,
  },
  'vloc webhooks listen --port 4242 --exec \'notify-send "$VLOC_EVENT_TYPE" "$VLOC_EVENT_JOB_ID"\'': {
    reason: 'it listens until it is stopped, and needs a program to call',
    run: listenAndCall,
  },
  'vloc webhooks listen --port 4242 --until loc_01k9x2m4n6p8q0r2s4t6v8w0y2 --timeout 2h': {
    reason: 'it ends with the event of its job',
    run: (desk, line) => listen(desk, line, async () => {}),
  },
  'vloc profile add prod': {
    reason: 'it asks on a terminal',
    needs: 'script',
    run: answerQuestions,
  },
  'vloc engines add recognize --type openai --url http://127.0.0.1:8000/v1 --model large-v3': UNTRIED,
  'vloc engines add translate --type openai --url https://api.example.com/v1 --model m --key-env MT_KEY':
    UNTRIED,
  'vloc engines add translate --type libretranslate --url http://127.0.0.1:5000': UNTRIED,
  'vloc engines add speak --type sherpa --folder ~/models/piper-es --language es': UNTRIED,
  "vloc engines add separate --vocals '{stem}/vocals.wav' --background '{stem}/no_vocals.wav' -- demucs -o '{out}' '{input}'":
    UNTRIED,
  'vloc engines remove recognize large-v3': CONFIGURED,
  'vloc engines remove translate 2': CONFIGURED,
  'vloc engines test speak kokoro --output json': CONFIGURED,
  'vloc engines install --pair eng-glg': {
    ...INSTALLING,
    hindrance: async () => 'it would install a package',
  },
  'vloc engines install --to pt,fr': {
    ...INSTALLING,
    hindrance: async () => 'it would install packages',
  },
  'vloc engines install': INSTALLING,
  'vloc engines install --yes': INSTALLING,
  'vloc serve': STANDING,
  'vloc serve --port 8080 --output json': STANDING,
  'vloc serve --control --output json': STANDING,
  'vloc serve --config service.json --public-origin https://media.example.com --trusted-proxy 127.0.0.1 -o plain':
    STANDING,
  'source <(vloc completion bash)': {
    reason: 'it is for bash',
    needs: 'bash',
    run: (desk, line) => desk.shell(`${line}\ncomplete -p vloc`, 'bash'),
  },
  ['vloc completion zsh > "$' + '{fpath[1]}/_vloc"']: {
    reason: 'it is for zsh, and writes into a folder of the user',
    needs: 'zsh',
    run: (desk, line) => desk.shell(`fpath=("$HOME" $fpath); ${line} && autoload -Uz +X _vloc`, 'zsh'),
  },
  'vloc completion fish > ~/.config/fish/completions/vloc.fish': {
    reason: 'it is for fish, which makes the folder at its first start',
    needs: 'fish',
    run: completeInFish,
  },
  'vloc completion powershell | Out-String | Invoke-Expression': {
    reason: 'it is for PowerShell',
    needs: 'pwsh',
    run: (desk, line) => desk.shell(line, 'pwsh'),
  },
};

/** All existing jobs are dubbings: once they are listed, nothing else has to find them unfinished. */
async function letGoWhenListed(desk: Desk, line: string): Promise<Ended> {
  const ended = desk.shell(line);
  await until(() => desk.answered.includes('listDubbings'));
  desk.engines.letGo();
  return ended;
}

/** Starts vloc in this process, lets it be used once it is there, and stops it like Ctrl-C unless it has ended. */
async function runWhileUsed(
  desk: Desk,
  line: string,
  use: (running: Running) => Promise<{ stops: boolean }>,
): Promise<Ended> {
  const running = startMain(await splitWords(desk, line), { cwd: desk.folder, env: desk.env });
  const using = use(running);
  const used = running.ended.then(({ code, stderr }) => {
    if (code !== 0) throw new Error(`it ended with ${code}: ${stderr}`);
    return using;
  });
  const { stops } = await Promise.race([using, used]);
  if (stops) running.send('SIGINT');
  return running.ended;
}

function runUntilServing(desk: Desk, line: string): Promise<Ended> {
  return runWhileUsed(desk, line, async ({ stdout }) => {
    await until(stdout, (shown) => shown.includes('/v1'));
    return { stops: true };
  });
}

function runUntilLocalized(desk: Desk, line: string): Promise<Ended> {
  return runWhileUsed(desk, line, async ({ stderr }) => {
    await until(stderr, (shown) => shown.includes('talk.es.mp4'));
    return { stops: true };
  });
}

/** Delivers the end of the job that the line waits for, or else of any job. */
function listen(desk: Desk, line: string, see: () => Promise<unknown>): Promise<Ended> {
  const job = /--until (\S+)/.exec(line)?.[1];
  return runWhileUsed(desk, line, async (running) => {
    const url = await untilListening(running);
    const event = eventBody(job ?? 'dub_1', 'succeeded', job === undefined ? 'dubbing' : 'auto_localization');
    const { body, headers } = sign(event, { secret: WEBHOOK_SECRET, at: Math.floor(Date.now() / 1000) });
    expect((await send(url, body, headers)).status).toBe(200);
    await see();
    return { stops: job === undefined };
  });
}

async function listenAndForward(desk: Desk, line: string): Promise<Ended> {
  const bodies: string[] = [];
  const receiver = await startPlain(async (request, response) => {
    bodies.push(`${request.url} ${await text(request)}`);
    response.writeHead(204).end();
  });
  const forwarding = line.replace('localhost:3000', `localhost:${receiver.port}`);
  const ended = await listen(desk, forwarding, () => until(() => bodies.length, Boolean));
  expect(bodies).toEqual([`/hook ${eventBody('dub_1')}`]);
  return ended;
}

async function listenAndCall(desk: Desk, line: string): Promise<Ended> {
  const file = join(desk.folder, 'called');
  await writeFile(file, '');
  await desk.addProgram('notify-send', `printf '%s %s' "$1" "$2" > '${file}'`);
  const called = () => readFile(file, 'utf8');
  const ended = await listen(desk, line, () => until(called, Boolean));
  expect(await called()).toBe('dubbing.succeeded dub_1');
  return ended;
}

async function answerQuestions(desk: Desk, line: string): Promise<Ended> {
  const { service, credentials } = desk.scene;
  const session = openTerminal(line, desk.folder, desk.env);
  const answers = [
    ['Base URL:', service.url],
    ['API key:', credentials.key],
    ['API secret (not shown):', credentials.secret],
  ] as const;
  for (const [question, answer] of answers) {
    await session.see(question);
    session.type(`${answer}\r`);
  }
  const code = await session.ended;
  expect(session.screen()).not.toContain(credentials.secret);
  return { code, stdout: session.screen(), stderr: '' };
}

/** Saves without the sample, which needs what the example adds; the entry is checked all the same. */
async function addUntried(desk: Desk, line: string): Promise<Ended> {
  const words = await splitWords(desk, line);
  if (line.includes('sherpa')) writeTinyVoice(join(desk.folder, 'home/models/piper-es'));
  const ended = await desk.run(words.toSpliced(2, 0, '--no-check'));
  const saved = JSON.parse(await readFile(join(desk.folder, 'config/engines.json'), 'utf8'));
  const [list] = Object.values(saved).filter((value) => Array.isArray(value));
  expect(list?.[0]).toEqual(expect.any(Object));
  return ended;
}

async function runConfigured(desk: Desk, line: string): Promise<Ended> {
  const url = 'http://127.0.0.1:1/v1';
  const file = {
    recognize: [{ type: 'openai', url, model: 'large-v3' }, 'pocketsphinx'],
    translate: [{ type: 'libretranslate', url }, 'apertium'],
    speak: [{ type: 'command', run: [nodeScript(PROGRAMS.speak, 'kokoro')], languages: ['es'] }],
  };
  await saveEnginesFile(join(desk.folder, 'config/engines.json'), JSON.parse(JSON.stringify(file)));
  return desk.run(await splitWords(desk, line));
}

async function findMissingEngines(): Promise<string | null> {
  const { missing } = await createEngines().capabilities();
  return missing.length === 0 ? null : `it would install ${missing.map(({ engine }) => engine).join(', ')}`;
}

async function completeInFish(desk: Desk, line: string): Promise<Ended> {
  await mkdir(join(desk.folder, 'home/.config/fish/completions'), { recursive: true });
  return desk.shell(`${line}; and complete --do-complete 'vloc jobs '`, 'fish');
}

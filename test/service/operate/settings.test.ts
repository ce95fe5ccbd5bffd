import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DEFAULT_CONFIG } from '../../../src/service/config.ts';
import {
  checkSettings,
  describeSettings,
  optionsOf,
  readSettingsFile,
  SettingsError,
} from '../../../src/service/operate/settings.ts';
import { makeFolder } from '../../support/make-folder.ts';

const FULL = {
  host: '0.0.0.0',
  port: 8080,
  state_dir: 'state',
  public_origin: 'https://media.example.com',
  trusted_proxies: ['10.0.0.0/8'],
  metrics_from: ['192.0.2.1'],
  metrics_port: 9464,
  metrics_host: '0.0.0.0',
  drain_seconds: 1800,
  shutdown_delay_seconds: 2.5,
  allow_loopback: true,
  header_prefix: 'X-Vendor',
  opening_credits: 12.5,
  prices: { dubbing: 2.5 },
  rate: { requests: 10, window_seconds: 5 },
  concurrent_tasks: 3,
  plan_ends_at: '2027-01-31T00:00:00Z',
  workers: 1,
  webhook_slots: 2,
  attempts: 5,
  job_deadline_hours: 1.5,
  stage_cache_mib: 100,
  database: 'postgres://vloc@db.example.com/vloc',
  role: 'worker',
  storage: 's3://bucket?endpoint=https://s3.example.com',
};

function errorsOf(value: unknown) {
  try {
    checkSettings(value, 'wrong');
  } catch (error) {
    if (error instanceof SettingsError) return error.errors;
    throw error;
  }
  return [];
}

describe('settings', () => {
  it('become options of the service', () => {
    expect(optionsOf(checkSettings(FULL, ''), 'default')).toEqual({
      host: '0.0.0.0',
      port: 8080,
      stateDir: 'state',
      database: 'postgres://vloc@db.example.com/vloc',
      role: 'worker',
      storage: 's3://bucket?endpoint=https://s3.example.com',
      trustedProxies: ['10.0.0.0/8'],
      metricsFrom: ['192.0.2.1'],
      metricsPort: 9464,
      metricsHost: '0.0.0.0',
      drainMs: 1_800_000,
      shutdownDelayMs: 2500,
      config: {
        publicOrigin: 'https://media.example.com',
        allowLoopback: true,
        headerPrefix: 'X-Vendor',
        openingCredits: 12.5,
        prices: { ...DEFAULT_CONFIG.prices, dubbing: 2.5 },
        rate: { requests: 10, windowSeconds: 5 },
        concurrentTasks: 3,
        stageCacheBytes: 100 * 1024 ** 2,
        planEndsAt: Date.UTC(2027, 0, 31),
        workers: 1,
        webhookSlots: 2,
        attempts: 5,
        jobDeadlineMs: 5_400_000,
      },
    });
  });

  it('keep every default that is not set', () => {
    const options = optionsOf(checkSettings({}, ''), 'default');
    expect(options.config).toEqual(DEFAULT_CONFIG);
    expect(options.stateDir).toBe('default');
    expect(options.metricsFrom).toEqual(['127.0.0.1', '::1']);
    expect([options.drainMs, options.shutdownDelayMs]).toEqual([0, 0]);
    expect(optionsOf(checkSettings({ role: 'api' }, ''), 'default').shutdownDelayMs).toBe(5000);
  });

  it('are all documented', () => {
    expect(
      describeSettings()
        .map(({ name }) => name)
        .sort(),
    ).toEqual(Object.keys(FULL).sort());
    for (const { default: text, meaning } of describeSettings()) {
      expect(text).not.toBe('undefined');
      expect(meaning).not.toBe('');
    }
  });

  it.each([
    [{ concurrent_task: 3 }, 'concurrent_task', 'this version of vloc has no such setting'],
    [{ prices: { dubbing: '1' } }, 'prices.dubbing', 'must be a number'],
    [{ prices: { dubbing: -1 } }, 'prices.dubbing', 'at least 0'],
    [{ prices: { dubbing: 0.0001 } }, 'prices.dubbing', 'at most three decimals'],
    [{ prices: { singing: 1 } }, 'prices.singing', 'this version of vloc has no such setting'],
    [{ rate: { requests: 5 } }, 'rate.window_seconds', 'is missing'],
    [{ workers: 1.5 }, 'workers', 'must be a whole number'],
    [{ port: 70_000 }, 'port', 'at most 65535'],
    [{ public_origin: 'https://a.example/v1' }, 'public_origin', 'scheme and host alone'],
    [{ public_origin: 'ftp://a.example' }, 'public_origin', 'scheme and host alone'],
    [
      { trusted_proxies: ['10.0.0.0/8', 'proxy'] },
      'trusted_proxies.1',
      'neither an IP address nor a network',
    ],
    [{ trusted_proxies: ['10.0.0.0/99'] }, 'trusted_proxies.0', 'neither an IP address nor a network'],
    [{ plan_ends_at: 'soon' }, 'plan_ends_at', 'must be a time'],
    [{ plan_ends_at: '2027-02-29T00:00:00Z' }, 'plan_ends_at', 'must be a time'],
    [{ header_prefix: 'X Service' }, 'header_prefix', 'letters, digits and dashes'],
    ['text', 'the file', 'must be an object'],
  ])('are reported if they are wrong: %j', (value, pointer, detail) => {
    expect(errorsOf(value)).toEqual([{ pointer, detail: expect.stringContaining(detail) }]);
  });
});

describe('a settings file', () => {
  it('is read as JSON; a missing or invalid one is reported', async () => {
    const path = join(makeFolder(), 'service.json');
    await expect(readSettingsFile(path)).rejects.toThrow(`${path} cannot be read`);
    await writeFile(path, '{"port": }');
    await expect(readSettingsFile(path)).rejects.toThrow(`${path} is not JSON`);
    for (const mark of ['', '\uFEFF']) {
      await writeFile(path, `${mark}{"port": 8080}`);
      expect(await readSettingsFile(path)).toEqual({ port: 8080 });
    }
  });
});

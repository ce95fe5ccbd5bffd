/** The manifests of deploy/kubernetes: the published schemas accept them, they fit each other, and what they run exists. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { Namespace } from 'kubernetes-models/v1/Namespace';
import { Service } from 'kubernetes-models/v1/Service';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { flagName } from '../../src/batch/inputs/field-flags.ts';
import { COMMANDS } from '../../src/commands/tree.ts';
import { ENVIRONMENT } from '../../src/profiles/environment.ts';
import { checkSettings } from '../../src/service/operate/settings.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FOLDER = join(ROOT, 'deploy/kubernetes');
const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8');
const page = readFileSync(join(ROOT, 'docs/scale-out.md'), 'utf8');

/** The class of each kind, and where its type is. */
const KINDS = {
  Deployment: [Deployment, 'kubernetes-models/apps/v1/Deployment'],
  HorizontalPodAutoscaler: [
    HorizontalPodAutoscaler,
    'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler',
  ],
  Namespace: [Namespace, 'kubernetes-models/v1/Namespace'],
  NetworkPolicy: [NetworkPolicy, 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy'],
  PodDisruptionBudget: [PodDisruptionBudget, 'kubernetes-models/policy/v1/PodDisruptionBudget'],
  ScaledObject: [ScaledObject, '@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject'],
  Service: [Service, 'kubernetes-models/v1/Service'],
} as const;

interface Manifest {
  readonly apiVersion: string;
  readonly kind: keyof typeof KINDS;
  readonly metadata: { readonly name: string };
  readonly spec?: object;
}

const kustomization: {
  readonly namespace: string;
  readonly resources: readonly string[];
  readonly configMapGenerator: readonly { readonly name: string; readonly files: readonly string[] }[];
  readonly images: readonly { readonly name: string }[];
} = parse(read('kustomization.yaml'));

const manifests = kustomization.resources.flatMap(
  (name) => parseAllDocuments(read(name)).map((document) => document.toJS() as Manifest), // the schemas check it
);

// The schemas have checked the types of what follows.
const deployments = manifests
  .filter(({ kind }) => kind === 'Deployment')
  .map((each) => new Deployment(each as never)); // the schemas check it
const pods = deployments.map(({ metadata, spec }) => ({
  name: metadata?.name ?? '',
  labels: spec?.template.metadata?.labels ?? {},
  spec: spec?.template.spec,
  container: spec?.template.spec?.containers[0],
}));

/** Every selector of pods in a manifest, wherever it is. */
function selectorsIn(value: unknown, key = ''): Record<string, string>[] {
  if (typeof value !== 'object' || value === null) return [];
  if (key === 'matchLabels') return [value as Record<string, string>]; // the schemas check it
  const isOfPods = key !== 'namespaceSelector';
  return isOfPods ? Object.entries(value).flatMap(([name, each]) => selectorsIn(each, name)) : [];
}

const matches = (labels: Readonly<Record<string, string>>, selector: Readonly<Record<string, string>>) =>
  Object.entries(selector).every(([name, value]) => labels[name] === value);

describe('deploy/kubernetes', () => {
  it('lists every file of the folder', () => {
    const generated = kustomization.configMapGenerator.flatMap(({ files }) => files);
    const listed = ['kustomization.yaml', ...kustomization.resources, ...generated];
    expect(readdirSync(FOLDER).sort()).toEqual([...listed].sort());
  });

  it('fits the schemas of Kubernetes and KEDA', () => {
    expect(manifests.length).toBeGreaterThan(9);
    for (const manifest of manifests) {
      const [Kind] = KINDS[manifest.kind];
      expect([manifest.kind, manifest.apiVersion]).toEqual([manifest.kind, Kind.apiVersion]);
      // As the API server sees it; it throws with the path of what is wrong.
      new Kind(manifest as never).validate(); // the schema decides
    }
  });

  it('has no field that Kubernetes or KEDA does not know', () => {
    // The validators accept additional fields; the types of the same schemas do not.
    const folder = join(ROOT, 'node_modules/.cache/vloc-manifests');
    mkdirSync(folder, { recursive: true });
    const lines = manifests.map(({ kind, ...rest }, at) => {
      const value = JSON.stringify({ kind, ...rest });
      return `import type { I${kind} as T${at} } from '${KINDS[kind][1]}';\nexport const v${at}: T${at} = ${value};`;
    });
    writeFileSync(join(folder, 'manifests.ts'), lines.join('\n'));
    const settings = { extends: join(ROOT, 'tsconfig.json'), files: ['manifests.ts'], include: [] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings));
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const checked = spawnSync(process.execPath, [tsc, '--noEmit', '-p', folder], { encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    expect([checked.status, checked.stdout]).toEqual([0, '']);
  });

  it('selects its own pods, and scales its own Deployments', () => {
    for (const manifest of manifests) {
      const { spec = {} } = manifest;
      const ofService = manifest.kind === 'Service' ? new Service(manifest).spec?.selector : undefined;
      for (const selector of ofService === undefined ? selectorsIn(spec) : [ofService]) {
        const found = pods.filter(({ labels }) => matches(labels, selector)).map(({ name }) => name);
        const both = manifest.metadata.name === 'vloc-egress';
        expect([manifest.kind, found]).toEqual([
          manifest.kind,
          both ? ['vloc-api', 'vloc-worker'] : [manifest.metadata.name],
        ]);
      }
      if ('scaleTargetRef' in spec) {
        expect(spec.scaleTargetRef).toMatchObject({ name: manifest.metadata.name });
        expect(pods.map(({ name }) => name)).toContain(manifest.metadata.name);
      }
    }
  });

  it('names ports, volumes, images and settings that exist', () => {
    const maps = kustomization.configMapGenerator.map(({ name }) => name);
    for (const { spec, container } of pods) {
      const ports = container?.ports?.map(({ name }) => name);
      for (const probe of [container?.startupProbe, container?.livenessProbe, container?.readinessProbe]) {
        expect(ports).toContain(probe?.httpGet?.port);
      }
      expect(container?.startupProbe?.httpGet?.path).toBe('/livez');
      expect(container?.livenessProbe?.httpGet?.path).toBe('/livez');
      expect(container?.readinessProbe?.httpGet?.path).toBe('/readyz');
      expect(spec?.volumes?.map(({ name }) => name)).toEqual(
        container?.volumeMounts?.map(({ name }) => name),
      );
      for (const { configMap } of spec?.volumes ?? []) {
        if (configMap !== undefined) expect(maps).toContain(configMap.name);
      }
      expect(kustomization.images.map(({ name }) => name)).toContain(container?.image);
    }
    expect(() => checkSettings(JSON.parse(read('settings.json')), 'settings.json')).not.toThrow();
  });

  it('runs commands and options that exist, with the ports that it probes', async () => {
    const serve = COMMANDS.find(({ words }) => words.join(' ') === 'serve');
    const { options } = (await serve?.leaf.load()) ?? expect.unreachable('no command `serve`');
    const known = [...Object.keys(options).map(flagName), '--output'];
    for (const { container } of pods) {
      const [command, ...words] = container?.args ?? [];
      expect(command).toBe('serve');
      expect(known).toEqual(expect.arrayContaining(words.filter((word) => word.startsWith('--'))));
      const port = words[words.findIndex((word) => /^--(metrics-)?port$/.test(word)) + 1];
      expect(container?.ports?.map(({ containerPort }) => String(containerPort))).toEqual([port]);
    }
  });

  it('ends a pod later than vloc needs to end', () => {
    const seconds = { api: 5, worker: 30 * 60 };
    expect(pods.map(({ container }) => container?.args?.join(' '))).toEqual([
      expect.stringContaining('--shutdown-delay 5s'),
      expect.stringContaining('--drain 30m'),
    ]);
    const [api, worker] = pods.map(({ spec }) => spec?.terminationGracePeriodSeconds);
    expect(api).toBeGreaterThanOrEqual(seconds.api + 30);
    expect(worker).toBeGreaterThanOrEqual(seconds.worker + 30);
  });

  it('has no rights, and writes only to volumes of limited size', () => {
    for (const { spec, container } of pods) {
      expect(spec?.automountServiceAccountToken).toBe(false);
      // The user of the Containerfile.
      expect(spec?.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 10_001, fsGroup: 10_001 });
      expect(container?.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      for (const { emptyDir } of spec?.volumes ?? []) {
        if (emptyDir !== undefined) expect(emptyDir).toHaveProperty('sizeLimit');
      }
      expect(container?.resources?.limits).toHaveProperty('memory');
    }
  });

  it('takes secrets only from the Secret that the page creates, whose names vloc reads', () => {
    expect(page).toContain('create secret generic vloc --from-env-file=');
    for (const { container } of pods) {
      expect(container?.env).toBeUndefined();
      expect(container?.envFrom).toEqual([{ secretRef: { name: 'vloc' } }]);
    }
    const known = [
      ...Object.keys(ENVIRONMENT),
      'AWS_ACCESS_KEY_ID',
      'AWS_SECRET_ACCESS_KEY',
      'POSTGRES_PASSWORD',
    ];
    const named = [...page.matchAll(/^\s*([A-Z_]+)=/gm)].map(([, name]) => name);
    expect(named).toContain('VLOC_DATABASE');
    expect(known).toEqual(expect.arrayContaining(named));
  });

  it('scales the workers by a metric that vloc has, at the address of the API nodes', () => {
    const scaled = manifests.find(({ kind }) => kind === 'ScaledObject');
    expect(scaled?.spec).toMatchObject({
      triggers: [
        {
          metadata: {
            url: `http://vloc-api.${kustomization.namespace}.svc:8080/metrics`,
            valueLocation: 'vloc_job_queue_length',
          },
        },
      ],
    });
  });
});

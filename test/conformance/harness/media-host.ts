/** A host on this machine that a service can fetch a video from. */
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { LOGIN_NAME } from '../rules/inputs.ts';
import type { Certificate } from '../webhooks.ts';

export interface MediaHost {
  /** URL of the video. Other paths answer with not found, or require a login. */
  readonly url: string;
  close(): Promise<void>;
}

/** Listens on a free port of 127.0.0.1, over https. */
export async function startMediaHost(certificate: Certificate, video: Buffer): Promise<MediaHost> {
  const server = createServer(certificate, ({ url }, response) => {
    if (url === '/video.mp4') response.writeHead(200, { 'Content-Type': 'video/mp4' }).end(video);
    else response.writeHead(url === `/${LOGIN_NAME}` ? 401 : 404).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // a TCP server has one
  return {
    url: `https://127.0.0.1:${port}/video.mp4`,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

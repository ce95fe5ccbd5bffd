/** A host on this machine that a service can fetch a video from. */
import { once } from 'node:events';
import { createServer as createPlain, type RequestListener } from 'node:http';
import { createServer as createSecure } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Certificate } from '../webhooks.ts';

export interface MediaHost {
  /** URL of the video. Other paths answer with not found, or require a login. */
  readonly url: string;
  close(): Promise<void>;
}

/** The host requires a login for this name. */
export const LOGIN_NAME = 'login.mp4';

/** Listens on a free port of 127.0.0.1. @param certificate null: plain HTTP */
export async function startMediaHost(certificate: Certificate | null, video: Buffer): Promise<MediaHost> {
  const answer: RequestListener = ({ url }, response) => {
    if (url === '/video.mp4') response.writeHead(200, { 'Content-Type': 'video/mp4' }).end(video);
    else response.writeHead(url === `/${LOGIN_NAME}` ? 401 : 404).end();
  };
  const server = certificate === null ? createPlain(answer) : createSecure(certificate, answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // a TCP server has one
  return {
    url: `${certificate === null ? 'http' : 'https'}://127.0.0.1:${port}/video.mp4`,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** Opens the way through a proxy. */
import type { Dispatcher } from 'undici';
import type { HttpSettings } from '../../base/http-client.ts';
import { ProxyError, type ProxySettings } from './proxy.ts';

/** Makes the agent whose requests go through the proxy of their scheme, in a tunnel: it must not read or change them. */
export function openTunnels({ http, https }: ProxySettings): NonNullable<HttpSettings['openAgent']> {
  return ({ EnvHttpProxyAgent, Pool }, options) => {
    /** Its connections to a service show which failures are those of the proxy. */
    class ProxyPool extends Pool {
      readonly #proxy: string;

      constructor({ origin, host }: URL, poolOptions: object) {
        super(origin, poolOptions);
        this.#proxy = host;
      }

      override async connect(target: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData> {
        const answer = await super.connect(target).catch((cause: unknown) => {
          throw new ProxyError(this.#proxy, null, { cause });
        });
        if (answer.statusCode === 200) return answer;
        answer.socket.on('error', () => {}).destroy();
        throw new ProxyError(this.#proxy, answer.statusCode);
      }
    }
    return new EnvHttpProxyAgent({
      ...options,
      httpProxy: http,
      httpsProxy: https,
      // Its rules know no networks, and it cannot be asked what it would do.
      noProxy: '',
      proxyTunnel: true,
      clientFactory: (origin, poolOptions) => new ProxyPool(origin, poolOptions),
    });
  };
}

import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'
import type { Settings } from './settings.ts'

/** The setting that lets this server connect to places of its own network. */
const SETTING = 'allow_local_requests_from_web_hooks_and_services'

/** An address that this server does not connect to for anybody. */
export class ForbiddenAddress extends Error {}

/** A name that no name server resolves. */
export class UnknownHost extends ForbiddenAddress {}

const PRIVATE = new BlockList()
for (const range of [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
]) {
  const [net = '', bits] = range.split('/')
  PRIVATE.addSubnet(net, Number(bits), isIP(net) === 4 ? 'ipv4' : 'ipv6')
}

/** Whether an IP address is of this machine, of a private network, or of none that the outside can be reached by. */
export const isPrivate = (address: string): boolean =>
  PRIVATE.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6')

/**
 * The IP address to connect to for `url`, and to no other: a name that is asked a second time may answer otherwise.
 * Throws ForbiddenAddress for one that is private while the instance does not allow those, UnknownHost for an unknown name.
 */
export async function outboundAddress(settings: Pick<Settings, 'get'>, url: URL): Promise<string> {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const found = await lookup(host, { all: true }).catch(() => [])
  const [first] = found
  if (first === undefined) throw new UnknownHost(`the host ${host} is not known`)
  if (!settings.get(SETTING) && found.some(({ address }) => isPrivate(address)))
    throw new ForbiddenAddress(`${host} is a private address, and the setting ${SETTING} is off`)
  return first.address
}

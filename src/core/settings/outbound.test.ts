import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ForbiddenAddress, isPrivate, outboundAddress } from './outbound.ts'

const allowing = (yes: boolean): Parameters<typeof outboundAddress>[0] => ({ get: () => yes as never })

test('addresses of this machine and of private networks are private, in every way to write them', () => {
  for (const address of [
    '127.0.0.1',
    '127.255.0.3',
    '0.0.0.0',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:a9fe:a9fe',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    'fe80::1',
    'fd00::1',
    'ff02::1',
  ])
    assert.equal(isPrivate(address), true, address)
  for (const address of ['1.1.1.1', '172.32.0.1', '192.167.1.1', '::ffff:1.1.1.1', '2606:4700::1111'])
    assert.equal(isPrivate(address), false, address)
})

test('a private address is connected to only where the instance allows it', async () => {
  for (const url of [
    'http://localhost/x',
    'http://127.1/x',
    'http://2130706433/x',
    'http://0x7f.1/x',
    'http://[::1]:8080/x',
    'http://[::ffff:127.0.0.1]/x',
    'https://10.0.0.1/x',
  ]) {
    await assert.rejects(outboundAddress(allowing(false), new URL(url)), ForbiddenAddress)
    assert.equal(isPrivate(await outboundAddress(allowing(true), new URL(url))), true)
  }
  assert.equal(await outboundAddress(allowing(false), new URL('https://1.1.1.1/x')), '1.1.1.1')
})

test('a name that nobody knows is refused by name', async () => {
  await assert.rejects(outboundAddress(allowing(true), new URL('https://no-such-host.invalid/')), {
    message: 'the host no-such-host.invalid is not known',
  })
})

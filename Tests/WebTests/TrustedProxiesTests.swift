import Testing

@testable import Web

private func address(_ text: String) -> ClientAddress { ListenAddress.client(text)! }

@Test(arguments: [
  ("", []), ("  ", []), ("127.0.0.1", ["127.0.0.1"]), ("::1", ["::1"]),
  (" 10.0.0.0/8 ,\t192.0.2.7", ["10.0.0.0", "10.255.255.255", "192.0.2.7"]),
  ("2001:db8::/32", ["2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"]),
  ("0.0.0.0/0", ["0.0.0.0", "255.255.255.255"]), ("::/0", ["::1", "ffff::"]),
  ("192.0.2.4/31", ["192.0.2.4", "192.0.2.5"]), ("192.0.2.4/32", ["192.0.2.4"]),
  ("fe80::2/127", ["fe80::2", "fe80::3"]), ("::ffff:192.0.2.1", ["192.0.2.1", "::ffff:192.0.2.1"]),
])
func proxiesAreAddressesAndNetworks(_ text: String, _ inside: [String]) throws {
  let proxies = try #require(TrustedProxies(text))
  for each in inside { #expect(proxies.contains(address(each)), "\(each)") }
  #expect(!proxies.contains(.unknown))
}

@Test(arguments: [
  ("", "127.0.0.1"), ("127.0.0.1", "127.0.0.2"), ("127.0.0.1", "::1"),
  ("10.0.0.0/8", "11.0.0.0"), ("10.0.0.0/8", "9.255.255.255"), ("192.0.2.4/31", "192.0.2.6"),
  ("0.0.0.0/0", "::1"), ("::/0", "1.2.3.4"), ("2001:db8::/32", "2001:db9::"),
  ("fe80::2/127", "fe80::1"),
])
func nobodyElseIsAProxy(_ text: String, _ outside: String) throws {
  #expect(!(try #require(TrustedProxies(text))).contains(address(outside)))
}

@Test(arguments: [
  ",", "127.0.0.1,", "localhost", "127.0.0.1:80", "[::1]", "10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/",
  "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8", "/8", "::/129", "2001:db8::1/64", "10.0.0.0 /8",
  "10.0.0/8", "1.2.3.4;5.6.7.8",
])
func whatIsNoListOfProxiesIsRefused(_ text: String) {
  #expect(TrustedProxies(text) == nil)
}

@Test func theListHasABound() {
  func list(_ count: Int) -> String {
    (0..<count).map { "10.0.\($0 / 256).\($0 % 256)" }.joined(separator: ",")
  }
  #expect(TrustedProxies(list(TrustedProxies.countMax)) != nil)
  #expect(TrustedProxies(list(TrustedProxies.countMax + 1)) == nil)
}

/// 127.0.0.1 and the network 10.0.0.0/8 are proxies.
@Test(arguments: [
  ("127.0.0.1", [], "127.0.0.1"),
  ("127.0.0.1", ["192.0.2.1"], "192.0.2.1"),
  // What the client wrote, then what the proxy added.
  ("127.0.0.1", ["6.6.6.6, 192.0.2.1"], "192.0.2.1"),
  ("127.0.0.1", ["6.6.6.6", "192.0.2.1"], "192.0.2.1"),
  ("127.0.0.1", ["127.0.0.1, 192.0.2.1"], "192.0.2.1"),
  // Two proxies, one behind the other.
  ("127.0.0.1", ["6.6.6.6, 192.0.2.1, 10.0.0.9"], "192.0.2.1"),
  ("127.0.0.1", ["6.6.6.6, 192.0.2.1", "10.0.0.9"], "192.0.2.1"),
  // Whoever is no proxy has no word to believe.
  ("192.0.2.1", ["6.6.6.6"], "192.0.2.1"),
  // A request of the proxies' own machines.
  ("127.0.0.1", ["10.0.0.8, 10.0.0.9"], "10.0.0.8"),
  // What is no address is not guessed at.
  ("127.0.0.1", [""], "127.0.0.1"), ("127.0.0.1", ["unknown"], "127.0.0.1"),
  ("127.0.0.1", ["192.0.2.1,"], "127.0.0.1"), ("127.0.0.1", ["_hidden, 10.0.0.9"], "10.0.0.9"),
  ("127.0.0.1", [":80"], "127.0.0.1"),
  ("127.0.0.1", ["192.0.2.1:4711"], "192.0.2.1"),
  ("127.0.0.1", ["[2001:db8::1]:4711"], "2001:db8::1"),
  ("127.0.0.1", [" 2001:db8::1\t"], "2001:db8::1"),
  ("127.0.0.1", ["::ffff:192.0.2.1"], "192.0.2.1"),
])
func theClientIsTheLastThatIsNoProxy(_ peer: String, _ forwarded: [String], _ client: String) throws
{
  let proxies = try #require(TrustedProxies("127.0.0.1, 10.0.0.0/8"))
  #expect(proxies.client(peer: address(peer), forwarded: forwarded) == address(client))
}

@Test(arguments: [
  ("192.0.2.1", "192.0.2.1"), ("::1", "0:0:0:0:0:0:0:1"), ("2001:db8::ff", "2001:db8:0:0:0:0:0:ff"),
  ("::ffff:10.0.0.1", "10.0.0.1"),
])
func anAddressIsWrittenAsPeopleReadIt(_ text: String, _ shown: String) {
  #expect("\(address(text))" == shown)
}

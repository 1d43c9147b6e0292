import Testing

@testable import Preferences

@Test func idsAreBytes() { #expect(Identifier("\u{e9}") != Identifier("e\u{301}")) }

import TestSupport
import Testing

@testable import ManagedModel

@Suite("property lists")
struct PropertyListTests {
  static let sample = PropertyListValue.dictionary([
    "yes": .boolean(true), "no": .boolean(false), "small": .integer(7), "byte": .integer(200),
    "word": .integer(70_000), "long": .integer(.max), "negative": .integer(-1),
    "lowest": .integer(.min), "real": .real(-0.5), "date": .date(123.5), "uid": .uid(300),
    "data": .data(Array(0...255)), "text": .string("plain"), "umlaut": .string("Größe 🦊"),
    "list": .array((0..<20).map { .integer($0) } + [.string("plain"), .dictionary([:])]),
  ])

  @Test("a binary list reads back equal, and equal values give equal bytes")
  func binary() throws {
    let bytes = PropertyList.binary(Self.sample)
    #expect(try PropertyList.read(bytes) == Self.sample)
    #expect(PropertyList.binary(try PropertyList.read(bytes)) == bytes)
  }

  @Test("an XML list is read")
  func xml() throws {
    let text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/x.dtd">
      <plist version="1.0"><dict>
        <key>a</key><array><integer>-5</integer><real>1.5</real><true/><false/></array>
        <key>b &amp; c</key><string>x &lt; y</string><key>d</key><data> AAEC
        Aw== </data>
        <key>e</key><date>2001-01-02T00:00:01Z</date>
        <key>f</key><dict><key>CF$UID</key><integer>9</integer></dict><key>g</key><string></string>
      </dict></plist>
      """
    #expect(
      try PropertyList.read(Array(text.utf8))
        == .dictionary([
          "a": .array([.integer(-5), .real(1.5), .boolean(true), .boolean(false)]),
          "b & c": .string("x < y"), "d": .data([0, 1, 2, 3]), "e": .date(86_401), "f": .uid(9),
          "g": .string(""),
        ]))
  }

  @Test(
    "malformed XML lists end in an error",
    arguments: [
      "<plist>", "<plist><dict><key>a</key></dict></plist>", "<plist><dict><true/></dict></plist>",
      "<plist><integer>x</integer></plist>", "<plist></plist>", "<plist><true/><true/></plist>",
      "<plist><string><true/></string></plist>", "<plist><key>a</key></plist>",
      "<!DOCTYPE a [<!ENTITY b \"c\">]><plist><string>&b;</string></plist>",
      "<plist>" + String(repeating: "<array>", count: 5_000),
      "<plist><data>!</data></plist>", "<plist><date>yesterday</date></plist>", "", "hello",
    ])
  func malformedXML(text: String) {
    #expect(throws: CoreDataError.self) { try PropertyList.read(Array(text.utf8)) }
  }

  @Test("a container that holds itself is an error")
  func cycle() {
    // One array whose only element is object 0, itself.
    let bytes: [UInt8] =
      Array("bplist00".utf8) + [0xA1, 0x00] + [0x08] + [0, 0, 0, 0, 0, 0, 1, 1]
      + [0, 0, 0, 0, 0, 0, 0, 1] + [0, 0, 0, 0, 0, 0, 0, 0] + [0, 0, 0, 0, 0, 0, 0, 10]
    #expect(throws: CoreDataError.self) { try PropertyList.read(bytes) }
  }

  @Test("containers that share their content do not unfold without bound")
  func sharing() {
    // Each of sixty arrays holds the next one twice: 2^60 values if unfolded.
    var bytes = Array("bplist00".utf8)
    var offsets: [UInt8] = []
    for index in 0..<60 {
      offsets.append(UInt8(bytes.count))
      bytes += [0xA2, UInt8(index + 1), UInt8(index + 1)]
    }
    offsets.append(UInt8(bytes.count))
    bytes += [0x09]
    let table = UInt8(bytes.count)
    bytes += offsets + [0, 0, 0, 0, 0, 0, 1, 1] + [0, 0, 0, 0, 0, 0, 0, 61]
    bytes += [0, 0, 0, 0, 0, 0, 0, 0] + [0, 0, 0, 0, 0, 0, 0, table]
    #expect(throws: CoreDataError.self) { try PropertyList.read(bytes) }
  }

  @Test("any bytes end in a value or an error", arguments: [1, 2, 3] as [UInt64])
  func mutations(seed: UInt64) {
    let bytes = PropertyList.binary(Self.sample)
    for length in 0..<bytes.count { _ = try? PropertyList.read(Array(bytes.prefix(length))) }
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<3_000 { _ = try? PropertyList.read(generator.mutated(bytes)) }
    // A trailer of arbitrary numbers over sound objects.
    for _ in 0..<2_000 {
      var copy = bytes
      for index in (copy.count - 32)..<copy.count where Bool.random(using: &generator) {
        copy[index] = UInt8.random(in: 0...255, using: &generator)
      }
      _ = try? PropertyList.read(copy)
    }
  }
}

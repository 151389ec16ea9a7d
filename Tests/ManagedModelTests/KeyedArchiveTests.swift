import TestSupport
import Testing

@testable import ManagedModel
@testable import ModelWriting

@Suite("keyed archives")
struct KeyedArchiveTests {
  @Test("objects that refer to each other in a circle are written and read")
  func circle() throws {
    var writer = KeyedArchiveWriter()
    let (first, second) = (writer.reserve(), writer.reserve())
    writer.fill(first, class: ["Node", "NSObject"], ["next": second, "name": writer.string("a")])
    writer.fill(second, class: ["Node", "NSObject"], ["next": first, "name": writer.string("b")])
    let archive = try KeyedArchive(writer.bytes(root: first))
    let root = archive.root.value.object
    #expect(root?.className == "Node")
    #expect(root?["next"].object?["name"].string == "b")
    #expect(root?["next"].object?["next"].object?["name"].string == "a")
    #expect(
      archive.tree().lines() == [
        "Node", "  name: \"a\"", "  next: Node", "    name: \"b\"", "    next: ↻ Node",
      ])
  }

  @Test(
    "a value of Foundation's that is a part of itself is no value, and nothing is followed for ever",
    arguments: [
      ("NSURL", "NS.base"), ("NSURL", "NS.relative"), ("NSDate", "NS.time"),
      ("NSData", "NS.data"), ("NSString", "NS.string"), ("NSNumber", "NS.intval"),
      ("NSUUID", "NS.uuidbytes"), ("NSDecimalNumber", "NS.mantissa"),
      ("NSKnownKeysDictionary1", "searchMapping"), ("NSKnownKeysDictionary1", "values"),
    ])
  func ownPart(name: String, field: String) throws {
    var writer = KeyedArchiveWriter()
    let object = writer.reserve()
    var fields: [String: PropertyListValue] = [field: object]
    switch (name, field) {
    case (_, "NS.base"): fields["NS.relative"] = writer.string("a")
    case (_, "values"):
      fields["values"] = writer.array([object])
      fields["searchMapping"] = writer.add(
        class: ["Mapping", "NSObject"], ["keys": writer.array([writer.string("k")])])
    default: break
    }
    writer.fill(object, class: [name, "NSObject"], fields)
    let archive = try KeyedArchive(writer.bytes(root: object))
    switch (archive.root.value, field) {
    case (.url("a"), "NS.base"), (.dictionary, "values"), (.object, _): break
    // A number is what its field is.
    case let (value, _): Issue.record("\(value)")
    }
  }

  @Test("a base of a base of a URL, ten thousand times, is followed a few times only")
  func bases() throws {
    var writer = KeyedArchiveWriter()
    var last = KeyedArchiveWriter.null
    for _ in 0..<10_000 {
      let text = writer.string("a")
      last = writer.add(class: ["NSURL", "NSObject"], ["NS.base": last, "NS.relative": text])
    }
    guard case .url = try KeyedArchive(writer.bytes(root: last)).root.value else {
      Issue.record("no URL")
      return
    }
  }

  @Test("Foundation's values mean what they were")
  func values() throws {
    var writer = KeyedArchiveWriter()
    let items = [
      writer.add(attributeValue: .decimal("-12.5")), writer.add(attributeValue: .date(3)),
      writer.add(attributeValue: .uuid(Array(0..<16))), writer.add(attributeValue: .uri("a:b")),
      writer.add(attributeValue: .bytes([1])), writer.add(attributeValue: .double(0.5)),
      writer.add(attributeValue: .boolean(true)), KeyedArchiveWriter.null,
      writer.set([writer.string("x")]),
      writer.dictionary([(key: writer.string("k"), value: writer.add(.integer(1)))]),
    ]
    let root = writer.array(items)
    let archive = try KeyedArchive(writer.bytes(root: root))
    #expect(
      archive.tree().lines() == [
        "array of 10", "  0: -12.5", "  1: 2001-01-01T00:00:03Z",
        "  2: 00010203-0405-0607-0809-0A0B0C0D0E0F", "  3: a:b", "  4: 1 bytes 01", "  5: 0.5",
        "  6: true", "  7: nil", "  8: set of 1", "    \"x\"", "  9: dictionary of 1", "    k: 1",
      ])
  }

  @Test(
    "decimal digits survive the words of an NSDecimal",
    arguments: [
      "0", "1", "-1", "0.05", "123456789012345678901234567890.12345678", "-0.5", "1000000",
    ])
  func decimals(digits: String) throws {
    var writer = KeyedArchiveWriter()
    let root = writer.add(attributeValue: .decimal(digits))
    guard case .decimal(let copy) = try KeyedArchive(writer.bytes(root: root)).root.value else {
      Issue.record("no decimal")
      return
    }
    #expect(copy == digits)
  }

  @Test("a property list that is no archive is an error")
  func noArchive() {
    #expect(throws: CoreDataError.self) { try KeyedArchive(PropertyList.binary(.dictionary([:]))) }
    #expect(throws: CoreDataError.self) { try Model(archive: PropertyList.binary(.string("x"))) }
  }

  @Test(
    "every value expression of a mapping model is read and prints as text that parses again",
    .enabled(if: Fixtures.isAvailable, "no fixtures"))
  func mappingModel() throws {
    let archive = try KeyedArchive(Fixtures.bytes("coredataplus/SampleModel/Fixtures/V2toV3.cdm"))
    let mappings = archive.root.value.object?["NSEntityMappings"].elements.compactMap(\.object)
    var reader = ArchivedExpressionReader()
    var texts: [String] = []
    for mapping in mappings ?? [] {
      for key in ["NSAttributeMappings", "NSRelationshipMappings"] {
        for property in mapping[key].elements.compactMap(\.object)
        where !property["NSValueExpression"].isNull {
          texts.append(try reader.expression(property["NSValueExpression"]).description)
        }
      }
      if !mapping["NSSourceExpression"].isNull {
        texts.append(try reader.expression(mapping["NSSourceExpression"]).description)
      }
    }
    #expect(texts.count > 5)
    for text in texts { #expect(try Expression(format: text).description == text) }
  }
}

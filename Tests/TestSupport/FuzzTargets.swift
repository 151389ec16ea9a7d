import Files
import JSON
import ManagedStore
import Migration
import ModelWriting

extension Fuzzing {
  /// Every reader of bytes from outside, with input that the tests make and, where they are there,
  /// fixtures.
  ///
  /// - Parameter folder: where damaged stores are written to be opened.
  public static func targets(in folder: TemporaryFolder) throws -> [Target] {
    let model = try Model(contents: Array(modelText.utf8))
    let archive = model.archived()
    let cache = try ModelCache.deflate(archive)
    var contents = [Array(modelText.utf8)]
    var archives = [archive]
    var lists = [metadataList, Array(xmlList.utf8)]
    for path in Fixtures.paths(endingWith: ".xcdatamodel/contents").suffix(8) {
      contents.append(try Fixtures.bytes(path))
    }
    for path in Fixtures.paths(endingWith: ".mom").prefix(6) {
      archives.append(try Fixtures.bytes(path))
    }
    for path in Fixtures.paths(endingWith: "VersionInfo.plist") {
      lists.append(try Fixtures.bytes(path))
    }
    for path in Fixtures.paths(endingWith: ".cdm") { archives.append(try Fixtures.bytes(path)) }
    let samples = try MappingSamples.models()
    var compiledMappings = [try MappingSamples.compiled(from: samples.before, to: samples.after)]
    var mappingDocuments = [
      try MappingSamples.document(models: samples), try MappingSamples.document(models: nil),
    ]
    for path in Fixtures.paths(endingWith: ".cdm") {
      compiledMappings.append(try Fixtures.bytes(path))
    }
    for path in Fixtures.paths(endingWith: "/xcmapping.xml") {
      mappingDocuments.append(try Fixtures.bytes(path))
    }
    let store = folder.path("fuzz.sqlite")
    try sampleStore(at: store, model: model)
    let storeBytes = try FileSystem.read(store)
    FileSystem.remove(store)
    let log = walBytes
    let names = [
      "0A1B2C3D-0000-4000-8000-000000000001", "../../etc/passwd", "/etc/passwd", "a/../b", "é",
    ].map { Array($0.utf8) }
    let predicates = [
      "title CONTAINS[cd] \"soup\" AND (author.name == nil OR ANY tags.name IN {\"a\", 'b'})",
      "createdAt BETWEEN {CAST(1, \"NSDate\"), CAST(\"2024-03-01\", \"NSDate\")}",
      "NOT SUBQUERY(tags, $x, $x.name LIKE \"v*\").@count > 2 && a.b.c + 1 * -3 ** 2 != 4",
      "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"A\", $source.b)",
    ].map { Array($0.utf8) }
    return [
      Target("model XML", corpus: contents) { _ = try Model(contents: $0) },
      Target("property list", corpus: lists) { _ = try PropertyList.read($0) },
      Target("keyed archive", corpus: archives) {
        _ = try KeyedArchive($0).tree().lines()
      },
      Target("packed value", corpus: try packedValues()) {
        let data = DecodedData($0)
        _ = data.lines(of: data.content(maximumLines: 2_000))
      },
      Target("compiled model", corpus: archives) { _ = try Model(archive: $0).versionHashes },
      Target("compiled mapping", corpus: compiledMappings) { bytes in
        _ = try MappingModelDocument(bytes: bytes).mapping(from: samples.before, to: samples.after)
      },
      Target("mapping document", corpus: mappingDocuments) { bytes in
        _ = try MappingModelDocument(bytes: bytes).mapping(from: samples.before, to: samples.after)
      },
      Target("model cache", corpus: [cache]) { bytes in
        _ = try Model(archive: ModelCache.inflate(bytes))
      },
      Target("metadata", corpus: lists) { bytes in
        guard case .dictionary(let values) = try PropertyList.read(bytes) else { return }
        let metadata = StoreMetadata(uuid: "", values: values)
        _ = (metadata.versionHashes, metadata.versionIdentifiers, metadata.frameworkVersion)
      },
      swiftTarget,
      Target("predicate", corpus: predicates) { bytes in
        _ = try Predicate(format: String(decoding: bytes, as: UTF8.self)).description
      },
      Target("recipe", corpus: recipes.map { Array($0.utf8) }) { bytes in
        let recipe = try Recipe(text: String(decoding: bytes, as: UTF8.self), path: "fuzz.json5")
        _ = try recipe.mapping(from: model, to: model, names: ("1", "2"))
      },
      Target("recipe expression", corpus: sqlExpressions.map { Array($0.utf8) }) { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        let recipe = try Recipe(
          text: """
            { from: "1", to: "2", entityMappings: [ { source: "Book", destination: "Book",
              attributes: { title: \(JSONText.quoted(text)) } } ] }
            """, path: "fuzz.json5")
        _ = try recipe.mapping(from: model, to: model, names: ("1", "2"))
      },
      Target("external data name", corpus: names) { bytes in
        let name = String(decoding: bytes, as: UTF8.self)
        guard StoreFiles.isExternalName(name) else { return }
        // The one thing that must hold for whatever is accepted.
        guard !name.contains("/"), name != "..", name != "." else {
          preconditionFailure("a name leads elsewhere: \(name)")
        }
      },
      Target("write-ahead log", corpus: [log]) { bytes in
        let path = folder.path("log.sqlite")
        try FileSystem.write(bytes, to: path + "-wal")
        _ = try WriteAheadLog(besideStore: path).frames
      },
      Target("store", corpus: [storeBytes]) { bytes in
        let path = folder.path("fuzz.sqlite")
        try FileSystem.write(bytes, to: path)
        let store = try Store(path: path)
        _ = try store.counts()
        for table in store.entityTables {
          _ = try store.rows(RowQuery(entity: table.entity, limit: 5))
          let cursor = try ObjectCursor(store, entity: table.entity)
          while try cursor.next() != nil {}
        }
        _ = try store.externalData()
      },
    ]
  }

  /// What apps pack, in gzip and in archives, and in one another.
  private static func packedValues() throws -> [[UInt8]] {
    let json = Array(#"{"title": "Soup", "steps": [1, 2.5, null, {"text": "\u00e9"}]}"#.utf8)
    func archive(_ data: [UInt8]) -> [UInt8] {
      var writer = KeyedArchiveWriter()
      let (inner, name) = (writer.add(.data(data)), writer.string("Leek"))
      let fields = ["a": inner, "b": name]
      let root = writer.add(class: ["App.Box", "NSObject"], fields)
      return writer.bytes(root: root)
    }
    let plain = [json, metadataList, Array(xmlList.utf8), archive(json), archive(metadataList)]
    let packed = try plain.map(TarWriter.gzip)
    return try plain + packed + packed.map(archive)
      + [TarWriter.gzip(archive(packed[3])), TarWriter.gzip(packed[0])]
  }

  static let modelText = """
    <?xml version="1.0" encoding="UTF-8"?>
    <model userDefinedModelVersionIdentifier="1">
    <entity name="Book" versionHashModifier="x">
    <attribute name="cover" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
    <attribute name="count" optional="YES" attributeType="Integer 16" derived="YES" derivationExpression="chapters.@count"/>
    <attribute name="price" optional="YES" attributeType="Decimal" defaultValueString="0.5"/>
    <attribute name="title" attributeType="String" defaultValueString="&lt;none&gt;" minValueString="1"/>
    <relationship name="chapters" optional="YES" toMany="YES" ordered="YES" destinationEntity="Chapter" inverseName="book" inverseEntity="Chapter"/>
    <relationship name="like" optional="YES" toMany="YES" destinationEntity="Book" inverseName="like" inverseEntity="Book"/>
    <fetchIndex name="byTitle"><fetchIndexElement property="title" type="Binary" order="ascending"/></fetchIndex>
    <uniquenessConstraints><uniquenessConstraint><constraint value="title"/></uniquenessConstraint></uniquenessConstraints>
    <userInfo><entry key="a" value="b"/></userInfo>
    </entity>
    <entity name="Novel" parentEntity="Book"><attribute name="genre" optional="YES" attributeType="Transformable"/></entity>
    <entity name="Chapter"><relationship name="book" maxCount="1" destinationEntity="Book" inverseName="chapters" inverseEntity="Book"/></entity>
    <configuration name="Main"><memberEntity name="Book"/></configuration>
    </model>
    """

  private static let recipes = [
    """
    { "from": "1", 'to': "2", // a comment
      entityMappings: [ { "source": "Book", "destination": "Book", "where": "price <> 0",
        "attributes": { "title": "split_part(title, '\\u0020', 1) || uuid()", price: .5e1, },
        "relationships": { "chapters": { "from": "chapters", "through": "IEM_Copy_Chapter" } },
        "create": [ { "destination": "Chapter", "relationship": "chapters", "each": "unarchive(cover)" } ] },
        /* deleted */ { source: "Novel", "delete": true } ],
      rename: { "Book.title": "Book.title" }, policies: { "A.B": { delete: true, also: [] } },
      userInfo: { a: [1, -0x1F, +Infinity, null, true, "\\x41\\\n"] } }
    """,
    "{ policies: { P: { where: { predicate: 'a > 1' }, attributes: { a: { sql: '1', default: '2' } } } } }",
  ]

  private static let sqlExpressions = [
    "CASE WHEN count > 1 THEN upper(title) ELSE coalesce(rest_after(title, ' '), 'x''y') END",
    "json_extract(unarchive(cover), '$[0]') -> 1 || x'00FF' -- end",
    "parse_date(title, 'yyyy-MM-dd') + count(chapters) * -1.5e3 /* c */ << (price & 1)",
    "regex_replace(\"title\", '(\\w+) (.*)', '$2') NOT LIKE '%' ESCAPE '!' AND uuid(3) IN (1, 2)",
  ]

  private static let metadataList = PropertyList.binary(
    .dictionary([
      "NSStoreType": .string("SQLite"), "NSPersistenceFrameworkVersion": .integer(1526),
      "NSStoreModelVersionHashes": .dictionary([
        "Book": .data([UInt8](repeating: 7, count: 32)), "é": .data([1]),
      ]),
      "NSStoreModelVersionIdentifiers": .array([.string("1"), .real(2.5), .date(3), .null]),
    ]))

  private static let xmlList = """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0"><dict><key>_XCCurrentVersionName</key><string>A &amp; B</string>
    <key>n</key><array><integer>-3</integer><real>1e9</real><true/><data>AQID</data>
    <date>2024-03-01T00:00:00Z</date></array></dict></plist>
    """

  /// A header and two frames of 512-byte pages, the second a commit, with right checksums.
  static let walBytes: [UInt8] = {
    func word(_ value: UInt32) -> [UInt8] {
      [UInt8(value >> 24), UInt8(value >> 16 & 255), UInt8(value >> 8 & 255), UInt8(value & 255)]
    }
    func sum(_ bytes: [UInt8], _ start: (UInt32, UInt32)) -> (UInt32, UInt32) {
      var (first, second) = start
      for offset in stride(from: 0, to: bytes.count - 7, by: 8) {
        let words = [offset, offset + 4].map { at in
          bytes[at..<(at + 4)].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        first = first &+ words[0] &+ second
        second = second &+ words[1] &+ first
      }
      return (first, second)
    }
    var log = word(0x377F_0682) + word(3_007_000) + word(512) + word(0) + word(1) + word(2)
    var state = sum(log, (0, 0))
    log += word(state.0) + word(state.1)
    for frame in 1...2 {
      let head = word(UInt32(frame)) + word(frame == 2 ? 2 : 0)
      let page = [UInt8](repeating: UInt8(frame), count: 512)
      state = sum(page, sum(head, state))
      log += head + word(1) + word(2) + word(state.0) + word(state.1) + page
    }
    return log
  }()

  static func sampleStore(at path: String, model: Model) throws {
    let writer = try StoreWriter(creating: path, model: model)
    for index in 1...20 {
      let book = try writer.insert(
        index % 2 == 0 ? "Novel" : "Book",
        attributes: [
          "title": .string("Title \(index)"), "price": .decimal("1.5"),
          "cover": .bytes([UInt8](repeating: UInt8(index), count: 40)),
        ])
      try writer.insert("Chapter", toOne: ["book": book])
    }
    try writer.finish()
  }
}

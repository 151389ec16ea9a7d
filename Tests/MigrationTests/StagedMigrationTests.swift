import Files
import ManagedModel
import ManagedStore
import ModelSearch
import SQLite
import Synchronization
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Stages with code between the versions of a model, on stores that the tests make.
@Suite("staged migration")
struct StagedMigrationTests {
  // MARK: Versions

  private static func person(
    _ attributes: String, constraint: String = "", more: String = "", identifier: String
  ) throws -> Model {
    let text = """
      <model userDefinedModelVersionIdentifier="\(identifier)">
      <entity name="Person">
        \(attributes)
        <attribute name="name" optional="YES" attributeType="String"/>
        <attribute name="photo" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
        <relationship name="pets" optional="YES" toMany="YES" deletionRule="Cascade" destinationEntity="Pet" inverseName="owner"/>
        <relationship name="friends" optional="YES" toMany="YES" destinationEntity="Person" inverseName="friends"/>
        \(constraint)
      </entity>
      <entity name="Pet">
        <attribute name="name" optional="YES" attributeType="String"/>
        <relationship name="owner" optional="YES" maxCount="1" destinationEntity="Person" inverseName="pets"/>
      </entity>
      \(more)
      </model>
      """
    return try Model(contents: Array(text.utf8))
  }

  private static let email = #"<attribute name="email" optional="YES" attributeType="String"/>"#
  private static let mandatory = #"<attribute name="email" attributeType="String"/>"#
  private static let count =
    #"<attribute name="petCount" optional="YES" attributeType="Integer 64" usesScalarValueType="YES"/>"#
  private static let unique = """
    <uniquenessConstraints><uniquenessConstraint><constraint value="email"/></uniquenessConstraint></uniquenessConstraints>
    """

  private static func version(_ number: Int) throws -> Model {
    switch number {
    case 1: try person(email, identifier: "1")
    case 2: try person(email, constraint: unique, identifier: "2")
    case 3: try person(mandatory, constraint: unique, identifier: "3")
    default: try person(mandatory + count, constraint: unique, identifier: "4")
    }
  }

  static func named(_ number: Int) throws -> StagedVersion {
    .model(try version(number), name: "v\(number)")
  }

  /// Four people, two of one e-mail address, one of none; three pets.
  private static func store(in folder: TemporaryFolder) throws -> String {
    let path = folder.path("People.sqlite")
    let writer = try StoreWriter(creating: path, model: version(1))
    let photo = AttributeValue.bytes([UInt8](repeating: 9, count: 200_000))
    let ann = try writer.insert(
      "Person", attributes: ["name": .string("Ann"), "email": .string("a@x"), "photo": photo])
    let double = try writer.insert(
      "Person", attributes: ["name": .string("Ann B."), "email": .string("a@x")])
    try writer.insert("Person", attributes: ["name": .string("Bo"), "email": .string("b@x")])
    try writer.insert("Person", attributes: ["name": .string("Cy")])
    try writer.insert("Pet", attributes: ["name": .string("Rex")], toOne: ["owner": ann])
    try writer.insert("Pet", attributes: ["name": .string("Tom")], toOne: ["owner": double])
    try writer.insert("Pet", attributes: ["name": .string("Kit")], toOne: ["owner": double])
    try writer.finish()
    return path
  }

  /// The pets of the second go to the first, and the second goes.
  static let merge: MigrationStage.Handler = { context in
    var first: [String: StagedObject] = [:]
    for person in try context.objects(of: "Person") {
      guard let email = try person.text("email") else { continue }
      if let kept = first[email] {
        try kept.add(person.objects("pets"), to: "pets")
        try context.delete(person)
      } else {
        first[email] = person
      }
    }
  }

  private static let fill: MigrationStage.Handler = { context in
    for person in try context.objects(of: "Person", where: "email == nil") {
      try person.set(.string("\(try person.text("name") ?? "")@unknown"), for: "email")
    }
  }

  private static let denormalise: MigrationStage.Handler = { context in
    try context.forEach("Person") { person in
      try person.set(.integer(Int64(person.objects("pets").count)), for: "petCount")
    }
  }

  private static func stages() throws -> StagedMigration {
    try StagedMigration(stages: [
      .custom(from: named(1), to: named(2), willMigrate: merge),
      .custom(from: named(2), to: named(3), willMigrate: fill),
      .custom(from: named(3), to: named(4), didMigrate: denormalise),
    ])
  }

  private static func error(_ body: () throws -> Void) -> CoreDataError? {
    do {
      try body()
      return nil
    } catch {
      return error as? CoreDataError
    }
  }

  // MARK: Facts

  @Test("duplicates are merged, values filled, counts denormalised, in one cut-over")
  func allStages() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(in: folder)
    let before = try folder.contents()
    let plan = try Store(path: path).plan(stages: Self.stages())
    #expect(plan.steps.map(\.to) == ["v2", "v3", "v4"])
    #expect(plan.failures.isEmpty)
    #expect(plan.notes.contains { $0.hasPrefix("Person.email") })
    #expect(try folder.contents() == before)
    let steps = Mutex<[String]>([])
    let receipt = try StoreMigration.runAndRead(
      plan,
      progress: { progress in
        guard progress.parts.indices.contains(progress.current) else { return }
        let part = progress.parts[progress.current]
        if part.kind == .edit {
          steps.withLock { $0.append("\(progress.step) \(part.title)") }
        }
      })
    #expect(steps.withLock { Set($0) } == ["1 willMigrate", "2 willMigrate", "3 didMigrate"])
    let store = try Store(path: path)
    #expect(store.metadata.versionHashes == (try Self.version(4)).versionHashes)
    #expect(try store.counts() == ["Person": 3, "Pet": 3])
    let people = try store.rows(
      RowQuery(entity: "Person", properties: ["email", "petCount"])
    ).rows.map(\.values)
    let expected: [[PropertyValue]] = [
      [.value(.string("a@x")), .value(.integer(3))], [.value(.string("b@x")), .value(.integer(0))],
      [.value(.string("Cy@unknown")), .value(.integer(0))],
    ]
    #expect(people == expected)
    // The photo in a file of its own came through all of it.
    #expect(try store.externalData().missing.isEmpty)
    let counted = receipt.entities.first { $0.entity == "Person" }
    #expect(counted?.before == 4 && counted?.after == 3 && receipt.dropped == 1)
    #expect(receipt.links["Pet.owner"] == 3)
    // One backup, which is the store of before, and no temporary file.
    let names = try FileSystem.list(folder.path).filter { !$0.hasPrefix(".") }.sorted()
    #expect(names.count == 2, "\(names)")
    let backup = try #require(receipt.backupPath)
    #expect(try FileSystem.read(backup) == before["People.sqlite"])
  }

  @Test("a store that is further skips the stages before it")
  func skipped() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("People.sqlite")
    let writer = try StoreWriter(creating: path, model: Self.version(3))
    let ann = try writer.insert("Person", attributes: ["email": .string("a@x")])
    try writer.insert("Pet", toOne: ["owner": ann])
    try writer.finish()
    let plan = try Store(path: path).plan(stages: Self.stages())
    #expect(plan.steps.map(\.from) == ["v3"])
    _ = try StoreMigration.runAndRead(plan)
    let done = try Store(path: path).plan(stages: Self.stages())
    #expect(done.isNothingToDo)
  }

  @Test("what a handler leaves broken is refused after it, and the store stays as it was")
  func leftBroken() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(in: folder)
    let before = try folder.contents()
    let stages = try StagedMigration(stages: [
      .custom(from: Self.named(1), to: Self.named(2), willMigrate: { _ in })
    ])
    let plan = try Store(path: path).plan(stages: stages)
    let error = Self.error { _ = try StoreMigration.runAndRead(plan) }
    #expect(error?.code == 134111)
    #expect(error?.entity == "Person")
    #expect(try folder.contents() == before)
  }

  @Test("without code, the same stage is refused when it is planned")
  func withoutCode() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(in: folder)
    let stages = try StagedMigration(stages: [.lightweight(to: [Self.named(1), Self.named(2)])])
    let plan = try Store(path: path).plan(stages: stages)
    #expect(plan.failures.map(\.code) == [134111])
  }

  @Test("an error that a handler throws ends the migration and leaves the store as it was")
  func thrown() throws {
    struct Odd: Error {}
    let folder = try TemporaryFolder()
    let path = try Self.store(in: folder)
    let before = try folder.contents()
    for isBefore in [true, false] {
      let code: MigrationStage.Handler = { context in
        _ = try context.insert("Pet")
        throw Odd()
      }
      let stages = try StagedMigration(stages: [
        .custom(
          from: Self.named(1), to: Self.named(2), willMigrate: isBefore ? code : Self.merge,
          didMigrate: isBefore ? nil : code)
      ])
      let plan = try Store(path: path).plan(stages: stages)
      let error = Self.error { _ = try StoreMigration.runAndRead(plan) }
      #expect(error?.kind == .failed)
      #expect(error?.message.contains(isBefore ? "willMigrate" : "didMigrate") == true)
      #expect(error?.message.contains("Odd") == true)
      #expect(try folder.contents() == before)
    }
  }

  @Test("cancelling within a handler ends it at its next batch")
  func cancelled() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(in: folder)
    let before = try folder.contents()
    let isAsked = Mutex(false)
    let stages = try StagedMigration(stages: [
      .custom(
        from: Self.named(1), to: Self.named(2),
        willMigrate: { context in
          isAsked.withLock { $0 = true }
          try Self.merge(context)
          try context.forEach("Person") { _ in }
        })
    ])
    let plan = try Store(path: path).plan(stages: stages)
    let error = Self.error {
      _ = try StoreMigration.runAndRead(plan, isCancelled: { isAsked.withLock { $0 } })
    }
    #expect(error?.kind == .cancelled)
    #expect(error?.code == 134120)
    #expect(try folder.contents() == before)
  }

  @Test("killed within a handler: the store is as it was, and the next run clears up")
  func killed() async throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(in: folder)
    let before = try folder.contents()
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let stages = try StagedMigration(stages: [
        .custom(
          from: StagedMigrationTests.named(1), to: StagedMigrationTests.named(2),
          willMigrate: { context in
            try StagedMigrationTests.merge(context)
            kill(getpid(), SIGKILL)
          })
      ])
      _ = try StoreMigration.runAndRead(Store(path: path).plan(stages: stages))
    }
    let left = try folder.contents().filter { !$0.key.hasPrefix(".strata-") }
    #expect(left == before)
    let receipt = try StoreMigration.runAndRead(
      Store(path: path).plan(stages: Self.stages()))
    #expect(receipt.notes.contains { $0.contains("interrupted") })
    #expect(try !FileSystem.list(folder.path).contains { $0.hasPrefix(".strata-") })
  }

  @Test("a version that no stage knows: 134504 with the store's checksum and each candidate's")
  func unknown() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(in: folder)
    let stages = try StagedMigration(stages: [.lightweight(to: [Self.named(3), Self.named(4)])])
    let error = Self.error { _ = try Store(path: path).plan(stages: stages) }
    #expect(error?.code == 134504)
    #expect(error?.message.contains(try Self.version(1).versionChecksum) == true)
    for number in [3, 4] {
      #expect(error?.hint?.contains(try Self.version(number).versionChecksum) == true)
    }
    let missing = Self.error {
      _ = try StagedMigration(stages: [.lightweight(to: [.checksum("none")])])
    }
    #expect(missing?.code == 134504)
  }

  @Test("a store that is further than the model: 134506; of another generation: 134505")
  func backwards() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("People.sqlite")
    try StoreWriter(creating: path, model: Self.version(4)).finish()
    let error = Self.error {
      _ = try Store(path: path).plan(stages: Self.stages(), to: Self.version(2))
    }
    #expect(error?.code == 134506)
    #expect(error?.message.contains(try Self.version(4).versionChecksum) == true)
    #expect(error?.message.contains(try Self.version(2).versionChecksum) == true)
    var values = try Store(path: path).metadata.values
    values["NSStoreModelVersionHashesVersion"] = .integer(4)
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.run(
      "UPDATE Z_METADATA SET Z_PLIST = ?", [.blob(PropertyList.binary(.dictionary(values)))])
    connection.close()
    let other = Self.error { _ = try Store(path: path).plan(stages: Self.stages()) }
    #expect(other?.code == 134505)
  }

  @Test("stages by checksum find their models among the app's versions")
  func checksums() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(in: folder)
    let versions = try ModelVersions(
      (1...4).map { .init(name: "People \($0)", model: try Self.version($0)) })
    let stages = try StagedMigration(
      stages: [
        .custom(
          from: .checksum(Self.version(1).versionChecksum),
          to: .checksum(Self.version(2).versionChecksum), willMigrate: Self.merge)
      ], versions: versions)
    let plan = try Store(path: path).plan(stages: stages)
    #expect(plan.steps.map(\.to) == ["People 2"])
    _ = try StoreMigration.runAndRead(plan)
  }

  @Test("stages that do not join, and a version that comes twice, are refused")
  func misjoined() throws {
    #expect(
      Self.error {
        _ = try StagedMigration(stages: [
          .lightweight(to: [Self.named(1), Self.named(2)]),
          .custom(from: Self.named(3), to: Self.named(4)),
        ])
      }?.kind == .usage)
    #expect(
      Self.error {
        _ = try StagedMigration(stages: [
          .lightweight(to: [Self.named(1), Self.named(2), Self.named(1)])
        ])
      }?.kind == .usage)
    #expect(Self.error { _ = try StagedMigration(stages: []) }?.kind == .usage)
  }

  @Test(
    "the receipt of several steps counts what the person had, entities that went first included")
  func counts() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("People.sqlite")
    let old =
      #"<entity name="Old"><attribute name="text" optional="YES" attributeType="String"/></entity>"#
    let first = try Self.person(Self.email, more: old, identifier: "0")
    let writer = try StoreWriter(creating: path, model: first)
    for _ in 1...2 { try writer.insert("Old") }
    try writer.insert("Person")
    try writer.finish()
    let stages = try StagedMigration(stages: [
      .lightweight(to: [
        .model(first, name: "v0"), Self.named(1),
        .model(Self.person(Self.email + Self.count, identifier: "5"), name: "v5"),
      ])
    ])
    var options = MigrationOptions()
    options.allowedLosses = ["Old"]
    let receipt = try StoreMigration.runAndRead(
      Store(path: path).plan(stages: stages), options: options)
    #expect(receipt.steps == 2 && receipt.dropped == 2 && receipt.created == 0)
    #expect(receipt.entities.contains(.init(entity: "Old", before: 2, after: 0, changed: 0)))
    #expect(receipt.entities.contains(.init(entity: "Person", before: 1, after: 1, changed: 1)))
  }

  @Test("a real store: colours become objects by way of a version between, in one cut-over")
  func fixture() throws {
    guard Fixtures.isAvailable else {
      print("skipped: fixtures are absent")
      return
    }
    let folder = try TemporaryFolder()
    let path = try folder.copy(
      fixture: "wibosco/CoreDataMigration_Example_2.sqlite", as: "Posts.sqlite")
    let bundle = Fixtures.path("wibosco/CoreDataMigration_Example.xcdatamodeld")
    func version(_ number: Int) throws -> Model {
      try ModelReference("\(bundle)@CoreDataMigration_Example \(number)").load().model
    }
    // Between 2 and 3: the colour is both, text and object.
    var entities = try version(3).entities
    let post = try #require(entities.firstIndex { $0.name == "Post" })
    let color = try #require(entities[post].relationships.firstIndex { $0.name == "color" })
    entities[post].relationships[color].isOptional = true
    let old = try #require(try version(2).attribute(named: "hexColor", of: "Post"))
    entities[post].attributes.append(old)
    let between = try Model(entities: entities)
    let before = try Store(path: path)
    let colors = try before.rows(RowQuery(entity: "Post", limit: 10_000, properties: ["hexColor"]))
    #expect(!colors.rows.isEmpty)
    let stages = try StagedMigration(stages: [
      .custom(
        from: .model(version(2), name: "2"), to: .model(between, name: "2½"),
        didMigrate: { context in
          try context.forEach("Post") { post in
            let color = try context.insert("Color")
            try color.set(post.value("hexColor"), for: "hex")
            try post.set(color, for: "color")
          }
        }),
      .lightweight(to: [
        .model(between, name: "2½"), .model(version(3), name: "3"), .model(version(4), name: "4"),
      ]),
    ])
    let plan = try before.plan(stages: stages)
    #expect(plan.steps.map(\.to) == ["2½", "3", "4"])
    #expect(plan.losses.map(\.name) == ["Post.hexColor"])
    var options = MigrationOptions()
    options.allowedLosses = ["Post.hexColor"]
    let receipt = try StoreMigration.runAndRead(plan, options: options)
    let store = try Store(path: path)
    #expect(try store.metadata.versionHashes == version(4).versionHashes)
    #expect(try store.counts() == ["Post": colors.rows.count, "Color": colors.rows.count])
    #expect(receipt.links.values.max() == colors.rows.count)
    let made = try store.rows(RowQuery(entity: "Color", limit: 10_000, properties: ["hex"]))
    #expect(made.rows.map(\.values) == colors.rows.map(\.values))
    // Each post leads to the colour that was made of it.
    for row in try store.rows(RowQuery(entity: "Post", limit: 10_000, properties: ["color"])).rows {
      #expect(row.values == [.toOne(ObjectID(entity: "Color", key: row.id.key))])
    }
  }

  @Test("objects are linked, unlinked and deleted by their relationships' rules")
  func editing() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(in: folder)
    // Taken out of its handler, as nobody should: it must end in an error.
    nonisolated(unsafe) var kept: StagedObject?
    let stages = try StagedMigration(stages: [
      .custom(
        from: Self.named(1), to: Self.named(4),
        willMigrate: { context in
          let people = try context.objects(of: "Person")
          let (ann, double, bo, cy) = (people[0], people[1], people[2], people[3])
          #expect(try ann.value("photo") == .bytes([UInt8](repeating: 9, count: 200_000)))
          // Cascade: both pets of the second go with her.
          try context.delete(double)
          #expect(try context.count(of: "Pet") == 1)
          #expect(try context.object(with: double.id) == nil)
          #expect(throws: CoreDataError.self) { try double.set(.null, for: "name") }
          #expect(throws: CoreDataError.self) { try bo.set(.integer(1), for: "name") }
          #expect(throws: CoreDataError.self) { try bo.value("nothing") }
          #expect(throws: CoreDataError.self) { try bo.add([ann], to: "pets") }
          #expect(throws: CoreDataError.self) { try context.objects(of: "Nobody") }
          #expect(throws: CoreDataError.self) { try context.objects(of: "Person", where: "(") }
          try ann.add([bo, cy], to: "friends")
          #expect(try bo.objects("friends").map(\.id) == [ann.id])
          let rex = try #require(try context.objects(of: "Pet", where: "name == 'Rex'").first)
          #expect(try rex.object("owner")?.id == ann.id)
          try rex.set(bo, for: "owner")
          #expect(try ann.objects("pets").isEmpty)
          let new = try context.insert("Pet")
          #expect(new.id.key == 4)
          try new.set(.string("Max"), for: "name")
          try bo.add([new], to: "pets")
          // One object for one key, with what was set and is not saved yet.
          try cy.set(.string("c@x"), for: "email")
          #expect(try context.objects(of: "Person", where: "email == 'c@x'").first === cy)
          kept = bo
        },
        didMigrate: Self.denormalise)
    ])
    let receipt = try StoreMigration.runAndRead(
      Store(path: path).plan(stages: stages))
    let store = try Store(path: path)
    #expect(try store.counts() == ["Person": 3, "Pet": 2])
    #expect(receipt.links == ["Pet.owner": 2, "Person.friends": 2])
    let counts = try store.rows(RowQuery(entity: "Person", properties: ["petCount"])).rows
    #expect(counts.map(\.values) == [0, 2, 0].map { [.value(.integer($0))] })
    #expect(throws: CoreDataError.self) { try kept?.set(.null, for: "name") }
  }

  @Test("a handler must not leave a mandatory value out")
  func mandatory() throws {
    let folder = try TemporaryFolder()
    let path = try Self.store(in: folder)
    let before = try folder.contents()
    let stages = try StagedMigration(stages: [
      .custom(
        from: Self.named(1), to: Self.named(3),
        willMigrate: { context in
          try Self.merge(context)
          try Self.fill(context)
        },
        didMigrate: { context in
          for person in try context.objects(of: "Person") { try person.set(.null, for: "email") }
        })
    ])
    let plan = try Store(path: path).plan(stages: stages)
    let error = Self.error { _ = try StoreMigration.runAndRead(plan) }
    #expect(error?.code == 134110)
    #expect(error?.property == "email")
    #expect(error?.message.contains("in 3 rows") == true)
    #expect(try folder.contents() == before)
  }
}

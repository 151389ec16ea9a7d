import ManagedModel
import ManagedStore
import SQLite
import TestSupport

@testable import Migration

/// A store with many-to-manys of every kind, and with things of the app's own beside them.
enum Gallery {
  static let version1 = """
    <model>
    <entity name="Album">
      <attribute name="title" optional="YES" attributeType="String"/>
      <relationship name="photos" optional="YES" toMany="YES" ordered="YES" destinationEntity="Photo" inverseName="albums"/>
    </entity>
    <entity name="Person">
      <attribute name="name" optional="YES" attributeType="String" indexed="YES"/>
      <relationship name="friends" optional="YES" toMany="YES" destinationEntity="Person" inverseName="friends"/>
      <relationship name="likes" optional="YES" toMany="YES" ordered="YES" destinationEntity="Person" inverseName="likedBy"/>
      <relationship name="likedBy" optional="YES" toMany="YES" destinationEntity="Person" inverseName="likes"/>
      <relationship name="pictures" optional="YES" toMany="YES" destinationEntity="Portrait" inverseName="people"/>
    </entity>
    <entity name="Photo">
      <attribute name="size" optional="YES" attributeType="Integer 64"/>
      <attribute name="taken" optional="YES" attributeType="Date"/>
      <relationship name="albums" optional="YES" toMany="YES" ordered="YES" destinationEntity="Album" inverseName="photos"/>
      <relationship name="place" optional="YES" maxCount="1" destinationEntity="Place" inverseName="photos"/>
    </entity>
    <entity name="Portrait" parentEntity="Photo">
      <relationship name="people" optional="YES" toMany="YES" destinationEntity="Person" inverseName="pictures"/>
    </entity>
    <entity name="Place">
      <attribute name="name" optional="YES" attributeType="String"/>
      <relationship name="photos" optional="YES" toMany="YES" destinationEntity="Photo" inverseName="place"/>
      <relationship name="tags" optional="YES" toMany="YES" destinationEntity="Tag" inverseName="all"/>
    </entity>
    <entity name="Tag">
      <attribute name="name" optional="YES" attributeType="String"/>
      <relationship name="all" optional="YES" toMany="YES" destinationEntity="Place" inverseName="tags"/>
      <relationship name="words" optional="YES" toMany="YES" destinationEntity="Word" inverseName="all"/>
    </entity>
    <entity name="Word">
      <relationship name="all" optional="YES" toMany="YES" destinationEntity="Tag" inverseName="words"/>
    </entity>
    </model>
    """

  /// The first version with some texts replaced.
  static func model(_ changes: [(String, String)] = []) throws -> Model {
    var text = version1
    for (old, new) in changes {
      guard text.contains(old) else { throw CoreDataError(.usage, "“\(old)” is not in the model") }
      text = text.replacing(old, with: new)
    }
    return try Model(contents: Array(text.utf8))
  }

  /// An attribute more for one entity.
  static func attribute(_ name: String, for entity: String) -> (String, String) {
    (
      "<entity name=\"\(entity)\">",
      "<entity name=\"\(entity)\"><attribute name=\"\(name)\" optional=\"YES\" attributeType=\"String\"/>"
    )
  }

  /// An entity before all others: every number shifts.
  static let shift = ("<model>", "<model><entity name=\"Aaa\"/>")

  /// Writes a store of the first version.
  static func store(in folder: TemporaryFolder) throws -> String {
    let path = folder.path("Gallery.sqlite")
    let model = try model()
    let writer = try StoreWriter(creating: path, model: model, uuid: "A-B-C")
    let (ann, bo) = (
      try writer.insert("Person", attributes: ["name": .string("Ann")]),
      try writer.insert("Person", attributes: ["name": .string("Bo")])
    )
    let cy = try writer.insert(
      "Person", attributes: ["name": .string("Cy")],
      toMany: ["friends": [ann, bo], "likes": [bo, ann]])
    let place = try writer.insert("Place", attributes: ["name": .string("here")])
    let photo = try writer.insert(
      "Photo", attributes: ["size": .integer(7)], toOne: ["place": place])
    let portrait = try writer.insert("Portrait", toMany: ["people": [ann, cy]])
    try writer.insert("Album", toMany: ["photos": [portrait, photo]])
    let tag = try writer.insert("Tag", toMany: ["all": [place]])
    try writer.insert("Word", toMany: ["all": [tag]])
    try writer.finish()
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(
      """
      CREATE TABLE APPNOTES (id INTEGER PRIMARY KEY AUTOINCREMENT, words TEXT);
      INSERT INTO APPNOTES (words) VALUES ('one'), ('two'); DELETE FROM APPNOTES WHERE id = 2;
      CREATE INDEX "app index" ON ZPHOTO (ZSIZE DESC);
      CREATE VIEW APPVIEW AS SELECT Z_PK AS key FROM ZPERSON;
      CREATE TRIGGER apptrigger AFTER INSERT ON ZPERSON BEGIN
        INSERT INTO APPNOTES (words) VALUES (NEW.ZNAME); END;
      ALTER TABLE ZTAG RENAME TO ZTAG2; ALTER TABLE ZTAG2 RENAME TO ZTAG; ANALYZE;
      """)
    connection.close()
    return path
  }

  /// The store migrated beside itself.
  static func migrate(
    _ path: String, to model: Model, _ way: Way, in folder: TemporaryFolder
  ) throws -> (result: Store, receipt: MigrationReceipt) {
    var plan = try way.plan(Store(path: path), to: model)
    plan.bytesFree = nil
    var options = MigrationOptions()
    options.allowedLosses = Set(plan.losses.map(\.name))
    options.output = folder.path("\(way).sqlite")
    let receipt = try StoreMigration.runAndRead(plan, options: options)
    return (try Store(path: folder.path("\(way).sqlite")), receipt)
  }
}

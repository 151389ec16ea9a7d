import ManagedModel
import ManagedStore
import TestSupport

@testable import Migration

/// A small library in versions, made by the tests: its first version uses every kind of property
/// that a migration carries.
enum Library {
  static let version1 = """
    <model userDefinedModelVersionIdentifier="1">
    <entity name="Author">
      <attribute name="name" optional="YES" attributeType="String"/>
      <attribute name="nickname" optional="YES" attributeType="String"/>
      <relationship name="books" optional="YES" toMany="YES" destinationEntity="Book" inverseName="author"/>
    </entity>
    <entity name="Book">
      <attribute name="cover" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
      <attribute name="pages" optional="YES" attributeType="Integer 16"/>
      <attribute name="price" optional="YES" attributeType="Decimal"/>
      <attribute name="published" optional="YES" attributeType="Date"/>
      <attribute name="title" optional="YES" attributeType="String"/>
      <relationship name="author" optional="YES" maxCount="1" destinationEntity="Author" inverseName="books"/>
      <relationship name="chapters" optional="YES" toMany="YES" ordered="YES" destinationEntity="Chapter" inverseName="book"/>
      <relationship name="shelves" optional="YES" toMany="YES" destinationEntity="Shelf" inverseName="books"/>
    </entity>
    <entity name="Novel" parentEntity="Book">
      <attribute name="genre" optional="YES" attributeType="String"/>
    </entity>
    <entity name="Manual" parentEntity="Book">
      <attribute name="genre" optional="YES" attributeType="String"/>
    </entity>
    <entity name="Chapter">
      <attribute name="title" optional="YES" attributeType="String"/>
      <relationship name="book" optional="YES" maxCount="1" destinationEntity="Book" inverseName="chapters"/>
    </entity>
    <entity name="Loan">
      <attribute name="due" optional="YES" attributeType="Date"/>
    </entity>
    <entity name="Shelf">
      <attribute name="label" optional="YES" attributeType="String"/>
      <relationship name="books" optional="YES" toMany="YES" ordered="YES" destinationEntity="Book" inverseName="shelves"/>
    </entity>
    </model>
    """

  static func model(_ contents: String) throws -> Model {
    try Model(contents: Array(contents.utf8))
  }

  /// The first version with some texts replaced.
  ///
  /// Lines are joined first, so that a replaced text may span several.
  static func model(replacing changes: [(String, String)]) throws -> Model {
    var text = version1.split(separator: "\n").map { $0.drop { $0 == " " } }.joined()
    for (old, new) in changes {
      let parts = text.split(separator: old, omittingEmptySubsequences: false)
      guard parts.count > 1 else { throw CoreDataError(.usage, "“\(old)” is not in the model") }
      text = parts.joined(separator: new)
    }
    return try model(text)
  }

  /// Writes a store of the first version; objects have NULLs, both subentities, links of all kinds.
  static func store(in folder: TemporaryFolder, books: Int = 6) throws -> String {
    let path = folder.path("Library.sqlite")
    let writer = try StoreWriter(
      creating: path, model: model(version1), uuid: "11111111-2222-4333-8444-555555555555")
    let ann = try writer.insert("Author", attributes: ["name": .string("Ann")])
    let bo = try writer.insert(
      "Author", attributes: ["name": .string("Bo"), "nickname": .string("B'o")])
    var made: [ObjectID] = []
    for index in 1...books {
      let entity = ["Book", "Novel", "Manual"][index % 3]
      var attributes: [String: AttributeValue] = [
        "title": .string("Title \(index)"), "price": .decimal("\(index).25"),
        "published": .date(Double(index) * 86400.5),
      ]
      if index % 2 == 0 { attributes["pages"] = .integer(Int64(index * 100)) }
      if index % 3 != 0 { attributes["genre"] = .string("genre \(index)") }
      if index == 2 { attributes["cover"] = .bytes([UInt8](repeating: 7, count: 200_000)) }
      if index == 4 { attributes["cover"] = .bytes([1, 2, 3]) }
      if entity == "Book" { attributes["genre"] = nil }
      made.append(
        try writer.insert(
          entity, attributes: attributes, toOne: index == 5 ? [:] : ["author": index < 4 ? ann : bo]
        )
      )
    }
    for (position, book) in [made[1], made[1], made[0]].enumerated() {
      try writer.insert(
        "Chapter", attributes: ["title": .string("Chapter \(position)")], toOne: ["book": book],
        positions: ["book": 2 - position])
    }
    try writer.insert("Loan", attributes: ["due": .date(1000)])
    try writer.insert("Loan")
    try writer.insert(
      "Shelf", attributes: ["label": .string("top")],
      toMany: ["books": [made[3], made[0], made[2]]])
    try writer.insert("Shelf", toMany: ["books": [made[0]]])
    try writer.finish()
    return path
  }

  static func plan(_ path: String, to model: Model, output: String? = nil) throws -> MigrationPlan {
    try Store(path: path).plan(to: model, names: ("1", "2"), output: output)
  }
}

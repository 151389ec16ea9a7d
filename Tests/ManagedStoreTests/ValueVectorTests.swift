import JSON
import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore

@Suite("Values as Apple's engine stores them")
struct ValueVectorTests {
  @Test("there are values of every type that has a column")
  func number() throws {
    let vectors = try Vectors.load("values", ValueVector.self)
    #expect(vectors.count >= 47)
    let types = AttributeType.allCases.filter { Attribute("", $0).isStored && $0 != .composite }
    #expect(Set(vectors.map(\.type)) == Set(types.map(\.name)))
    #expect(Set(vectors.filter { $0.made != true }.map(\.type)).count >= 11)
    // Whole seconds are INTEGER in some stores, and Decimals that are whole.
    for type in ["Date", "Decimal"] {
      let forms = vectors.filter { $0.type == type && $0.made != true }.map(\.stored)
      #expect(forms.contains { $0.contains(".") } && forms.contains { !$0.contains(".") })
    }
  }

  @Test("a value is dumped as an independent reader found it", arguments: Vectors.values)
  func value(_ vector: ValueVector) throws {
    var item = Entity("Item")
    let type = try #require(AttributeType(name: vector.type))
    var attribute = Attribute("value", type, optional: true)
    attribute.allowsExternalBinaryDataStorage = vector.external ?? false
    item.attributes = [attribute]
    let folder = try TemporaryFolder()
    let path = folder.path("Store.sqlite")
    let writer = try StoreWriter(creating: path, model: Model(entities: [item]))
    try writer.insert("Item")
    try writer.finish()
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute("UPDATE ZITEM SET ZVALUE = \(vector.stored)")
    connection.close()
    let cursor = try ObjectCursor(Store(path: path), entity: "Item")
    let value = try #require(cursor.next()?.attributes.first)
    var json = JSONWriter()
    json.value(value, blobs: false)
    #expect(try JSONDecoding.value(ValueVector.Dumped.self, from: json.bytes) == vector.dumped)
  }
}

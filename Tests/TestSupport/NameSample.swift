import JSON
import ManagedModel

/// A generated model with the entity IDs, tables and history bits that Core Data's rules give it.
///
/// `Tests/Samples/names.json` holds 25, of the 331 that the fixtures have; a program that agrees with
/// 455 real stores computed them.
public struct NameSample: Sendable {
  /// A column, as “NAME TYPE”.
  public typealias Column = String

  /// Its place in the file.
  public let number: Int
  public let model: Model
  public let entityIDs: [String: Int64]
  /// Columns by table, join tables included, in their order.
  public let tables: [String: [Column]]
  /// Of each entity, the bits that are not of to-many relationships.
  public let changeBits: [String: [String]]

  /// Those of this package.
  public static let own: [NameSample] = samples(
    #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2)
      .joined(separator: "/") + "/Samples/names.json")

  /// Those of the fixtures, where they are there.
  public static var fixtures: [NameSample] { samples(Fixtures.path("names.json")) }

  private struct Stored: Decodable {
    var model: String
    var entityIDs: [String: Int64]
    var tables: [String: [[String]]]
    var changeBits: [String: [String]]
  }

  private static func samples(_ path: String) -> [NameSample] {
    guard let bytes = try? Fixtures.readFile(path),
      let stored = try? JSONDecoding.value([Stored].self, from: bytes)
    else { return [] }
    return stored.enumerated().compactMap { number, sample in
      guard let model = try? Model(contents: Array(sample.model.utf8)) else { return nil }
      return NameSample(
        number: number, model: model, entityIDs: sample.entityIDs,
        tables: sample.tables.mapValues { $0.map { $0.joined(separator: " ") } },
        changeBits: sample.changeBits)
    }
  }
}

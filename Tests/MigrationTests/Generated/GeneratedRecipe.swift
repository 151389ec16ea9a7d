import ManagedModel
import TestSupport

/// A recipe made by dice, for two versions: sound or not, as people write them.
struct GeneratedRecipe {
  let text: String

  private let source: Model
  private let destination: Model

  init(from source: Model, to destination: Model, using generator: inout SeededGenerator) {
    self.source = source
    self.destination = destination
    let followers = OracleMatching(from: source, to: destination, breaking: nil).followers
    var entries: [String] = []
    for entity in source.entities where !entity.isAbstract && generator.chance(50) {
      let follower = followers[entity.name] ?? entity.name
      guard destination.entity(named: follower)?.isAbstract == false, !generator.chance(8) else {
        entries.append("{ source: \"\(entity.name)\", delete: true }")
        continue
      }
      // Now and then two become one.
      let others = destination.entities.filter { !$0.isAbstract }.map(\.name)
      let to = generator.chance(6) ? generator.pick(others) ?? follower : follower
      entries.append(Self.entry(entity.name, to, source, destination, &generator))
    }
    text = """
      { from: "V1", to: "V2", entityMappings: [
        \(entries.joined(separator: ",\n  "))
      ] }
      """
  }

  private static func entry(
    _ from: String, _ to: String, _ source: Model, _ destination: Model,
    _ generator: inout SeededGenerator
  ) -> String {
    var parts = ["source: \"\(from)\"", "destination: \"\(to)\""]
    let values = OracleElements.values(of: from, in: source).filter { $0.name != "zMark" }
    let strings = values.filter { $0.type == .string && !$0.name.contains(".") }
    if generator.chance(12), let some = generator.pick(values) {
      parts.append("where: \"\(some.name) IS NOT NULL\"")
    } else if generator.chance(6), let some = generator.pick(strings) {
      parts.append("where: \"\(some.name) <> 'Ann'\"")
    } else if generator.chance(6), let some = generator.pick(strings) {
      parts.append("distinct: \"\(some.name)\"")
    }
    var attributes: [String] = []
    for attribute in OracleElements.values(of: to, in: destination)
    where attribute.name != "zMark" && generator.chance(25) {
      attributes.append(
        "\"\(attribute.name)\": \(expression(for: attribute, of: values, &generator))")
    }
    if !attributes.isEmpty {
      parts.append("attributes: { \(attributes.joined(separator: ", ")) }")
    }
    var relationships: [String] = []
    for relationship in destination.relationships(of: to) where generator.chance(10) {
      let others = source.relationships(of: from).map(\.name)
      // Two relationships for one that has room for one owner: which links go is not told to the last.
      let hasRoom = !relationship.isToMany || relationship.inverse != nil
      let other = generator.chance(50) && hasRoom ? generator.pick(others) : nil
      relationships.append("\"\(relationship.name)\": \(other.map { "\"\($0)\"" } ?? "null")")
    }
    if !relationships.isEmpty {
      parts.append("relationships: { \(relationships.joined(separator: ", ")) }")
    }
    return "{ \(parts.joined(separator: ", ")) }"
  }

  private static func expression(
    for attribute: Attribute, of values: [Attribute], _ generator: inout SeededGenerator
  ) -> String {
    let same = values.filter { $0.type == attribute.type }
    guard let any = generator.pick(values)?.name else { return "null" }
    let one = generator.chance(70) ? generator.pick(same)?.name ?? any : any
    let texts = [
      "null", "\"\(one)\"", "\"\(one)\"", "\"coalesce(\(one), \(any))\"",
      "\"nullif(\(one), 'Ann')\"",
      "\"upper(\(one))\"", "\"\(one) || '!'\"", "\"length(\(one))\"", "\"1\"", "\"'text'\"",
      "\"2.5\"",
      "\"CASE WHEN \(any) IS NULL THEN \(one) END\"", "\"split_part(\(one), ' ', 2)\"",
      "\"text_or_null(\(one))\"", "\"coalesce(\(one), 'none')\"", "\"\(one) + 1\"",
    ]
    return generator.pick(texts) ?? "null"
  }
}

import JSON
import ManagedModel

extension RecipeWriter {
  /// What the recipe is, and what it leaves to inference.
  func comments(besides written: [Int]) -> [String] {
    var lines = ["// How objects of \(Self.plain(from)) become objects of \(Self.plain(to))."]
    let left = mapping.entityMappings.indices.filter { !written.contains($0) }
    guard !left.isEmpty else { return lines }
    lines.append("// The rest is inferred, and need not be written.")
    for index in left {
      let entityMapping = mapping.entityMappings[index]
      let name = Self.plain(entityMapping.destination ?? entityMapping.source ?? "")
      lines.append("//   \(name): " + Self.plain(summary(entityMapping)))
    }
    return lines
  }

  private func summary(_ mapping: EntityMapping) -> String {
    guard let from = mapping.source else { return "new, without objects" }
    guard let to = mapping.destination else {
      return "removed; { \"source\": \"\(from)\", \"delete\": true } says that this is intended"
    }
    var parts = from == to ? [] : ["from \(from)"]
    parts += mapping.attributes.filter(\.isRenamed).map { "\($0.name) from \($0.source ?? "")" }
    parts += mapping.relationships.filter(\.isRenamed).map { "\($0.name) from \($0.source ?? "")" }
    let new =
      mapping.attributes.filter { $0.source == nil }.map(\.name)
      + mapping.relationships.filter { $0.source == nil }.map(\.name)
    if !new.isEmpty { parts.append("new: " + new.joined(separator: ", ")) }
    return parts.isEmpty ? "copied" : parts.joined(separator: "; ")
  }

  /// Nothing in a name may end the comment's line.
  static func plain(_ text: String) -> String {
    let quoted = JSONText.quoted(text)
    let plain = quoted.dropFirst().dropLast().replacing("\\\"", with: "\"")
    return plain.contains("\\") ? quoted : String(plain)
  }
}

import ManagedModel

extension EntityReader {
  /// Takes `#Unique` and `#Index`.
  mutating func read(_ macro: MacroUse) {
    guard macro.name == "Unique" || macro.name == "Index" else { return }
    for argument in macro.arguments where argument.label == nil {
      let lists = argument.tokens.keyPaths
      guard !lists.isEmpty else {
        remark(
          macro.line,
          "\(entry.ownName): #\(macro.name) has something other than a list of key paths")
        continue
      }
      if macro.name == "Unique" {
        entity.uniquenessConstraints.append(lists)
      } else {
        let isTree = argument.tokens.contains { $0.isWord("rtree") }
        let name = "SwiftDataIndexOn\(isTree ? "RTree" : "Binary")" + lists.joined()
        guard !entity.fetchIndexes.contains(where: { $0.name == name }) else { continue }
        entity.fetchIndexes.append(
          FetchIndex(
            name,
            elements: lists.map { .init(property: $0, kind: isTree ? .rtree : .binary) }))
      }
    }
  }
}

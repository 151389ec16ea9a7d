/// What two arrangements differ in, in words: for telling what was undone.
enum ViewChange {
  static func words(from old: ViewState, to new: ViewState) -> String {
    var (old, new) = (old, new)
    // A table that is not there is one that is as it comes.
    for entity in Set(old.browse.tables.keys).union(new.browse.tables.keys) {
      old.browse.tables[entity] = old.browse.tables[entity] ?? TableView()
      new.browse.tables[entity] = new.browse.tables[entity] ?? TableView()
    }
    let (before, after) = (leaves(of: old), leaves(of: new))
    let paths = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }.sorted {
      $0.joined(separator: ".") < $1.joined(separator: ".")
    }
    var words: [String] = []
    // Another entity brings its own arrangement; that alone is told.
    if old.browse.entity != new.browse.entity {
      return "\(new.browse.entity ?? "no entity") is shown"
    }
    // `browse.tables.Recipe.sort…`
    let changes = paths.map { path in
      let table = path.firstIndex(of: "tables")
      return (entity: path.element(table.map { $0 + 1 }), field: path.element((table ?? -1) + 2))
    }
    let isSorted = changes.contains { $0.field == "sort" }
    // What was typed once is not taken back, and the direction belongs to the sort.
    for (entity, field) in changes
    where field != "filters" && !(isSorted && field == "isDescending") {
      let name = field.map(phrase) ?? "arrangement"
      let word = entity.map { "\(name) of \($0)" } ?? name
      if !words.contains(word) { words.append(word) }
    }
    return words.joined(separator: ", ")
  }

  /// `showsOnlyChanges` as “only changes”.
  private static func phrase(_ name: String) -> String {
    var words = ""
    for character in name.hasPrefix("is") && name.count > 2 ? name.dropFirst(2) : name[...] {
      if character.isUppercase, !words.isEmpty { words.append(" ") }
      words += character.lowercased()
    }
    return words.hasPrefix("shows ") ? String(words.dropFirst(6)) : words
  }

  /// Each value under the names of the properties that lead to it.
  private static func leaves(of value: Any) -> [[String]: String] {
    var leaves: [[String]: String] = [:]
    collect(value, [], into: &leaves)
    return leaves
  }

  private static func collect(_ value: Any, _ path: [String], into leaves: inout [[String]: String])
  {
    let mirror = Mirror(reflecting: value)
    switch mirror.displayStyle {
    case .struct?:
      for child in mirror.children {
        collect(child.value, path + [child.label ?? ""], into: &leaves)
      }
    case .dictionary?:
      for child in mirror.children {
        let pair = Array(Mirror(reflecting: child.value).children)
        guard pair.count == 2 else { continue }
        collect(pair[1].value, path + ["\(pair[0].value)"], into: &leaves)
      }
    default: leaves[path] = "\(value)"
    }
  }
}

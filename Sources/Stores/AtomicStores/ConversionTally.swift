import ManagedModel

/// What is counted on the way.
struct ConversionTally {
  var objects: [String: Int] = [:]
  var unknownEntities: [String: Int] = [:]
  var unknownProperties: Set<String> = []
  var unfit: [String: Int] = [:]
  var unfitLinks: [String: Int] = [:]
  var oneSided: [String: Int] = [:]
  var archived: [String: (count: Int, isArchived: Bool, attribute: Attribute)] = [:]
  var classes: [String: Int] = [:]
  var brokenConstraints: [String] = []

  var losses: [AtomicFault] {
    var faults = unknownEntities.sorted { $0.key < $1.key }.map {
      AtomicFault(
        .values,
        "\(NumberText.counted($0.value, "object")) of \($0.key) left out: the model has no such entity.",
        count: $0.value)
    }
    if !unknownProperties.isEmpty {
      faults.append(
        AtomicFault(
          .values,
          "Left out, since the model has no such property: \(Self.list(unknownProperties.sorted())).",
          count: unknownProperties.count))
    }
    faults += unfit.sorted { $0.key < $1.key }.map {
      AtomicFault(
        .values,
        "\(NumberText.counted($0.value, "value")) of \($0.key) \($0.value == 1 ? "does" : "do") not fit the attribute's type, and \($0.value == 1 ? "is" : "are") kept as text.",
        count: $0.value)
    }
    faults += unfitLinks.sorted { $0.key < $1.key }.map {
      AtomicFault(
        .links,
        "\(NumberText.counted($0.value, "reference")) of \($0.key) to objects of another entity left out.",
        count: $0.value)
    }
    return faults
  }

  var warnings: [AtomicFault] {
    oneSided.sorted { $0.key < $1.key }.map {
      AtomicFault(
        .links,
        "\(NumberText.counted($0.value, "reference")) of \($0.key) \($0.value == 1 ? "is" : "are") missing on the other side: kept where that side names no other object.",
        count: $0.value)
    }
  }

  /// What looks at the new store finds the objects themselves.
  var brokenConstraintWarnings: [String] {
    brokenConstraints.map {
      "Objects are equal that a uniqueness constraint asks to differ: the store of the SQLite type lacks the index \($0)."
    }
  }

  /// Classes whose values Core Data does not decode.
  private var undecoded: AtomicFault? {
    guard !classes.isEmpty else { return nil }
    return AtomicFault(
      .classes,
      "Core Data refuses the store as it is: it has objects of \(Self.list(classes.keys.sorted())), which the app has to name in NSBinaryStoreSecureDecodingClasses.",
      count: classes.values.reduce(0, +))
  }

  /// All that is wrong, for somebody who asks for that alone.
  var faults: [AtomicFault] { losses + warnings + (undecoded.map { [$0] } ?? []) }

  var notes: [String] {
    archived.sorted { $0.key < $1.key }.map { name, entry in
      "\(NumberText.counted(entry.count, "value")) of \(name) archived by NSKeyedArchiver."
        + (entry.isArchived
          ? ""
          : " The app's transformer \(entry.attribute.valueTransformerName ?? "") may expect another form.")
    }
      + (undecoded.map { [$0.sentence] } ?? [])
  }

  private static func list(_ names: [String]) -> String {
    names.prefix(5).joined(separator: ", ")
      + (names.count > 5 ? " and \(names.count - 5) more" : "")
  }
}

extension AtomicModel {
  /// What is to be known of the model that the store is read with.
  func notes(of contents: AtomicContents) -> [String] {
    switch source {
    case .given: return []
    case .rebuilt where contents.form == .binary:
      return [
        "A binary store has no names of attributes: they are shown as #0, #1 and so on. Give its model with --model."
      ]
    case .rebuilt(let proved):
      let all = contents.entityNames
      return [
        proved.count == all.count
          ? "The model is made of the objects, and has the hash of every entity that the store states."
          : "The model is made of the objects: its hash is the store's for \(proved.count) of \(NumberText.counted(all.count, "entity", plural: "entities")). What of the rest is optional, inherited, or empty everywhere is not known. Give the model with --model."
      ]
    }
  }
}

import ExampleValues
import ManagedStore
import ModelWriting
import Seeding

/// Fills a recipe box with objects: the same ones for the same number.
package struct DemoStore {
  /// UUID of the store.
  package static let uuid = "9F2C41D0-5B7E-4A63-8C1D-2E90F7A4B611"
  /// 2019-01-01, in seconds since 2001.
  private static let begin = 567_993_600.0

  private let writer: StoreWriter
  private var random = SeededGenerator(seed: 2024)
  private let photos: [[UInt8]]
  private let settings: [[UInt8]]
  private var people: [ObjectID] = []
  private var tags: [ObjectID] = []
  private var ingredients: [ObjectID] = []

  /// Writes about `objects` objects, at least one of each kind.
  package static func write(to path: String, model: Model, objects: Int) throws -> Int {
    var store = try DemoStore(
      writer: StoreWriter(creating: path, model: model, uuid: uuid))
    try store.fill(objects)
    try store.writer.finish()
    return store.writer.count
  }

  private init(writer: StoreWriter) throws {
    self.writer = writer
    photos = try (0..<16).map {
      try SeededImage.png(width: 24 + $0, height: 16 + $0, seed: UInt64($0), noisy: false)
    }
    settings = (0..<24).map(Self.archive)
  }

  private mutating func fill(_ objects: Int) throws {
    try addTags()
    try addIngredients(min(20_000, max(25, objects / 60)))
    try addPeople(max(2, objects / 100))
    try addDrafts(max(3, objects / 80))
    var number = 0
    repeat {
      try addRecipe(number, room: objects - writer.count)
      number += 1
    } while writer.count < objects
  }

  private mutating func addTags() throws {
    for name in DemoWords.tags {
      tags.append(
        try writer.insert(
          "Tag",
          attributes: ["name": .string(name), "colour": .integer(Int64(random.below(1 << 24)))]))
    }
  }

  private mutating func addIngredients(_ count: Int) throws {
    for index in 0..<count {
      var attributes: [String: AttributeValue] = [
        "unit": .string(random.pick(DemoWords.units)),
        "energy": .double(Double(random.below(9000)) / 10),
      ]
      let entity: String
      let names: [String]
      switch index % 3 {
      case 0: (entity, names) = ("Ingredient", DemoWords.ingredients)
      case 1:
        (entity, names) = ("Produce", DemoWords.produce)
        attributes["season"] = .string(random.pick(DemoWords.seasons))
        attributes["origin"] = .string(random.pick(DemoWords.origins))
      default:
        (entity, names) = ("Spice", DemoWords.spices)
        attributes["heat"] = .integer(Int64(random.below(11)))
        attributes["origin"] = .string(random.pick(DemoWords.origins))
      }
      let round = index / 3 / names.count
      let name = names[index / 3 % names.count] + (round == 0 ? "" : " no. \(round + 1)")
      attributes["name"] = .string(name)
      ingredients.append(try writer.insert(entity, attributes: attributes))
    }
  }

  private mutating func addPeople(_ count: Int) throws {
    for index in 0..<count {
      let base = DemoWords.people[index % DemoWords.people.count]
      let round = index / DemoWords.people.count
      var attributes: [String: AttributeValue] = [
        "identifier": .uuid(random.uuid()),
        "name": .string(round == 0 ? base : "\(base) \(round + 1)"),
      ]
      if random.chance(60) {
        attributes["born"] = .date(-Double(random.below(15_000)) * 86_400)
      }
      if random.chance(30) {
        attributes["homepage"] = .uri("https://example.org/cooks/\(index + 1)")
      }
      // Keys of both run alike as long as each person has a profile.
      let profile = ObjectID(entity: "Profile", key: writer.nextKey(of: "Profile"))
      let person = try writer.insert(
        "Person", attributes: attributes, toOne: ["profile": profile])
      var about: [String: AttributeValue] = ["newsletter": .boolean(random.chance(40))]
      if random.chance(50) { about["bio"] = .string(random.pick(DemoWords.summaries)) }
      try writer.insert("Profile", attributes: about, toOne: ["person": person])
      people.append(person)
    }
  }

  private mutating func addDrafts(_ count: Int) throws {
    for _ in 0..<count {
      var attributes: [String: AttributeValue] = [
        "title": .string(title()), "createdAt": .date(date()),
        "serves": .integer(Int64(random.below(6) + 1)),
      ]
      if random.chance(50) { attributes["summary"] = .string(random.pick(DemoWords.summaries)) }
      try writer.insert("Draft", attributes: attributes)
    }
  }

  private mutating func addRecipe(_ number: Int, room: Int) throws {
    var attributes: [String: AttributeValue] = [
      "identifier": .uuid(random.uuid()), "title": .string(title()), "createdAt": .date(date()),
      "serves": .integer(Int64(random.below(8) + 1)),
      "minutes": .integer(Int64(random.below(40) * 5 + 10)),
      "isFavourite": .boolean(random.chance(12)),
    ]
    if random.chance(70) { attributes["summary"] = .string(random.pick(DemoWords.summaries)) }
    if random.chance(65) { attributes["rating"] = .double(Double(random.below(41)) / 8) }
    if random.chance(55) {
      let cents = random.below(3000) + 100
      attributes["price"] = .decimal("\(cents / 100).\(cents % 100 / 10)\(cents % 10)")
    }
    if random.chance(25) {
      attributes["source"] = .uri("https://example.org/recipes/\(number + 1)?lang=de")
    }
    if random.chance(96) { attributes["difficulty"] = .string(random.pick(DemoWords.difficulties)) }
    if random.chance(20) { attributes["legacyCode"] = .string("RB-\(1000 + number)") }
    if random.chance(40) { attributes["settings"] = .bytes(settings[random.below(24)]) }
    if number % 100 == 7, number < 1200 {
      attributes["photo"] = .bytes(
        try SeededImage.png(width: 260, height: 200, seed: UInt64(number), noisy: true))
    } else if random.chance(25) {
      attributes["photo"] = .bytes(photos[random.below(16)])
    }
    var toMany: [String: [ObjectID]] = [:]
    var chosen: Set<Int> = []
    for _ in 0..<random.below(4) { chosen.insert(random.below(tags.count)) }
    toMany["tags"] = chosen.sorted().map { tags[$0] }
    if number > 2, random.chance(20) {
      toMany["similarRecipes"] = [
        ObjectID(entity: "Recipe", key: Int64(random.below(number) + 1))
      ]
    }
    if number > 2, random.chance(10) {
      toMany["goesWith"] = [ObjectID(entity: "Recipe", key: Int64(random.below(number) + 1))]
    }
    var toOne: [String: ObjectID] = [:]
    if random.chance(95) { toOne["author"] = people[random.below(people.count)] }
    let recipe = try writer.insert(
      "Recipe", attributes: attributes, toOne: toOne, toMany: toMany)
    var left = max(2, room - 1)
    for position in 0..<min(left - 1, random.below(5) + 1) {
      var step: [String: AttributeValue] = ["text": .string(random.pick(DemoWords.steps))]
      if random.chance(50) { step["minutes"] = .integer(Int64(random.below(30) + 1)) }
      try writer.insert(
        "Step", attributes: step, toOne: ["recipe": recipe], positions: ["recipe": position])
      left -= 1
    }
    for _ in 0..<min(left, random.below(5) + 1) {
      var amount: [String: AttributeValue] = ["quantity": .double(Double(random.below(200)) / 4)]
      if random.chance(15) { amount["note"] = .string("finely chopped") }
      try writer.insert(
        "Amount", attributes: amount,
        toOne: [
          "recipe": recipe, "ingredient": ingredients[random.below(ingredients.count)],
        ])
    }
  }

  private mutating func title() -> String {
    let name =
      random.chance(25)
      ? random.pick(DemoWords.foreign)
      : random.pick(DemoWords.adjectives) + " " + random.pick(DemoWords.dishes)
    return name + random.pick(DemoWords.endings)
  }

  /// A minute of the years 2019 to 2025.
  private mutating func date() -> Double {
    Self.begin + Double(random.below(6 * 365 * 1440)) * 60
  }

  /// What an app would keep in a transformable: a dictionary, archived.
  private static func archive(_ variant: Int) -> [UInt8] {
    var writer = KeyedArchiveWriter()
    let entries = [
      (writer.string("theme"), writer.string(variant % 2 == 0 ? "paper" : "midnight")),
      (writer.string("fontSize"), writer.add(.integer(Int64(12 + variant % 6)))),
      (writer.string("keepsScreenOn"), writer.add(.boolean(variant % 3 == 0))),
    ]
    // In two steps: the writer must have the dictionary before it is asked for its bytes.
    let root = writer.dictionary(entries.map { (key: $0.0, value: $0.1) })
    return writer.bytes(root: root)
  }
}

/// Names and titles in several languages, wide and combining characters among them.
enum DemoWords {
  static let people = [
    "Julia Child", "Ann Müller", "María José Núñez", "田中 花子", "김민준", "Zoë Ångström",
    "Nguyễn Thị Mai", "Олена Шевченко", "Γιώργος Παπαδόπουλος", "דנה לוי", "أمينة حسن",
    "Jose\u{301} Garci\u{301}a", "Siobhán Ó Néill", "王小明", "Priya Raghunathan", "Åke Öberg",
    "François Lefèvre", "Kateřina Dvořáková", "สมชาย ใจดี", "Bob",
  ]

  static let adjectives = [
    "Quick", "Grandmother's", "Spicy", "Roasted", "Cold", "Creamy", "Rustic", "Vegan", "Smoked",
    "Sunday", "One-pot", "Crispy", "Winter", "Green", "Sticky", "Lemony",
  ]

  static let dishes = [
    "carrot soup", "pumpkin soup", "lentil stew", "risotto", "tarte Tatin", "ratatouille",
    "potato salad", "rye bread", "dumplings", "noodles", "curry", "shakshuka", "pancakes",
    "apple cake", "bean chili", "fish pie", "focaccia", "goulash", "ramen", "tagine",
  ]

  static let foreign = [
    "味噌汁", "김치찌개", "Kürbissuppe", "Crème brûlée", "Борщ", "Phở bò", "麻婆豆腐", "Gazpacho andaluz",
    "Smørrebrød", "Żurek", "חומוס", "Cre\u{301}pes Suzette", "Käsespätzle", "お好み焼き",
    "Pão de queijo",
    "Μουσακάς", "Tarte flambée 🔥", "Pizza 🍕 margherita", "Şakşuka", "Sopa de lima",
  ]

  static let endings = [
    "", "", "", " with herbs", " for two", " à la maison", " of the day", " II", " (vegan)",
    " mit Speck", " 改", " without fuss",
  ]

  static let tags = [
    "vegan", "quick", "autumn", "spring", "party", "Frühstück", "süß", "雑炊", "kids", "leftovers",
    "spicy 🌶", "gluten-free", "soup", "baking", "picnic", "fête", "Ostern", "one pot", "classic",
    "budget",
  ]

  static let ingredients = ["flour", "sugar", "butter", "rice", "olive oil", "red lentils", "milk"]
  static let produce = [
    "carrot", "pumpkin", "leek", "apple", "Grünkohl", "大根", "aubergine", "tomato", "lemon",
    "fennel",
  ]
  static let spices = [
    "paprika", "cumin", "chili", "saffron", "山椒", "nutmeg", "piment d'Espelette", "pepper",
  ]
  static let origins = ["Italy", "India", "日本", "España", "Türkiye", "Hungary", "Perú"]
  static let seasons = ["spring", "summer", "autumn", "winter"]
  static let units = ["g", "ml", "piece", "tbsp", "tsp"]
  static let difficulties = ["easy", "medium", "hard"]

  static let steps = [
    "Wash and chop everything.", "Heat the oil in a large pot.", "Fry the onions until golden.",
    "Add the stock and let it simmer.", "Season to taste.", "Knead the dough for ten minutes.",
    "Let it rest under a cloth.", "Bake at 180 °C.", "Purée until smooth.", "Serve hot.",
  ]

  static let summaries = [
    "A family favourite that needs no special tools.", "Best on the second day.",
    "Ein Gericht für kalte Tage.", "Léger, rapide et parfumé.", "十五分でできる一皿。",
    "Keeps for a week in the fridge;\nfreezes well.",
  ]
}

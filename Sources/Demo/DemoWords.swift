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

/** What the shop sells. Prices are in cents; `art` is drawn on a field of 64 by 64 in the colours of {@link drawing}. */
const PRODUCTS = [
  {
    slug: 'blue-teapot',
    name: 'Blue teapot',
    category: 'Tea',
    cents: 3490,
    hue: 215,
    text: 'Stoneware, holds one litre, pours without a drop on the cloth.',
    art: '<ellipse cx="31" cy="38" rx="17" ry="13"/><path d="M47 34l9-8M16 32c-9-4-9 14 2 11" fill="none"/><circle cx="31" cy="22" r="3"/><path d="M22 26h18" fill="none"/>',
  },
  {
    slug: 'green-teapot',
    name: 'Green teapot',
    category: 'Tea',
    cents: 3690,
    hue: 150,
    text: 'Cast iron with an enamelled inside. Keeps tea hot for an hour.',
    art: '<path d="M14 30h34v8c0 8-6 14-17 14S14 46 14 38z"/><path d="M48 34l9-5M20 28c0-16 22-16 22 0" fill="none"/>',
  },
  {
    slug: 'tea-cup',
    name: 'Tea cup',
    category: 'Tea',
    cents: 990,
    hue: 28,
    text: 'A cup with a saucer, for the teapots beside it.',
    art: '<path d="M16 24h28v10c0 8-6 13-14 13s-14-5-14-13z"/><path d="M44 27c10-2 10 13 0 11M12 52h36" fill="none"/>',
  },
  {
    slug: 'green-tea',
    name: 'Green tea, 100 g',
    category: 'Tea',
    cents: 850,
    hue: 95,
    text: 'First flush from one garden. Two minutes at 75 degrees.',
    art: '<path d="M18 20h28l2 34H16z"/><path d="M22 20l2-8h16l2 8" fill="none"/><path d="M24 44c0-10 8-14 16-14 0 10-6 14-16 14z" fill="#fff"/>',
  },
  {
    slug: 'desk-lamp',
    name: 'Desk lamp',
    category: 'Desk',
    cents: 5900,
    hue: 48,
    text: 'A lamp with a long arm and a warm light that can be dimmed.',
    art: '<path d="M34 12l16 10-12 12z"/><path d="M34 18L18 34l14 18M20 54h24" fill="none"/>',
  },
  {
    slug: 'notebook',
    name: 'Notebook',
    category: 'Desk',
    cents: 1250,
    hue: 350,
    text: '160 squared pages, bound with thread, lies flat on the desk.',
    art: '<rect x="18" y="10" width="30" height="44" rx="3"/><path d="M14 18h8M14 28h8M14 38h8M14 48h8M28 22h14M28 30h14" fill="none"/>',
  },
  {
    slug: 'fountain-pen',
    name: 'Fountain pen',
    category: 'Desk',
    cents: 4450,
    hue: 260,
    text: 'A steel nib of medium width, with a converter and two cartridges.',
    art: '<path d="M40 10l14 14-22 22-16 4 4-16z"/><path d="M16 50l12-12" fill="none"/>',
  },
  {
    slug: 'wall-clock',
    name: 'Wall clock',
    category: 'Home',
    cents: 3900,
    hue: 190,
    text: 'Ash wood, no ticking, and a hand for the seconds.',
    art: '<circle cx="32" cy="32" r="21"/><path d="M32 18v14l10 7" fill="none"/>',
  },
  {
    slug: 'flower-pot',
    name: 'Flower pot',
    category: 'Home',
    cents: 1890,
    hue: 12,
    text: 'Terracotta, 18 cm wide, with a saucer below it.',
    art: '<path d="M16 30h32l-5 24H21z"/><path d="M32 30V14M32 22c-10 0-10-8-10-8 8 0 10 4 10 8zM32 18c8 0 9-7 9-7-7 0-9 4-9 7z" fill="none"/>',
  },
  {
    slug: 'wool-blanket',
    name: 'Wool blanket',
    category: 'Home',
    cents: 7900,
    hue: 320,
    text: 'Woven from new wool, 140 by 200 cm, with short fringes.',
    art: '<rect x="12" y="18" width="40" height="28" rx="4"/><path d="M12 28h40M12 36h40M18 46v6M26 46v6M34 46v6M42 46v6" fill="none"/>',
  },
  {
    slug: 'bread-knife',
    name: 'Bread knife',
    category: 'Kitchen',
    cents: 2790,
    hue: 230,
    text: 'A serrated blade of 21 cm and a handle of beech.',
    art: '<path d="M10 40L40 14c6 4 6 10 2 14L26 42z"/><path d="M22 40l-10 12" fill="none"/>',
  },
  {
    slug: 'salt-mill',
    name: 'Salt mill',
    category: 'Kitchen',
    cents: 2250,
    hue: 70,
    text: 'Beech outside and ceramic inside, from fine to coarse.',
    art: '<path d="M24 24h16l4 30H20z"/><circle cx="32" cy="16" r="7"/><path d="M23 34h18" fill="none"/>',
  },
];

const BY_SLUG = new Map(PRODUCTS.map((product) => [product.slug, product]));

export const catalog = {
  products: PRODUCTS,

  find(slug) {
    return BY_SLUG.get(slug) ?? null;
  },

  /** Products with every word of the query in name, text or category. No words: none. */
  search(query) {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return [];
    return PRODUCTS.filter((product) => {
      const text = `${product.name} ${product.text} ${product.category}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
  },
};

/** A product's picture as an SVG file. */
export function drawing({ art, hue }) {
  const paint = `fill="hsl(${hue} 55% 62%)" stroke="hsl(${hue} 55% 30%)" stroke-width="2" stroke-linejoin="round" stroke-linecap="round"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" fill="hsl(${hue} 55% 92%)"/><g ${paint}>${art}</g></svg>`;
}

/** 3490 as it is read by people: €34.90 */
export function price(cents) {
  return `€${(cents / 100).toFixed(2)}`;
}

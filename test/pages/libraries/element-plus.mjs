// Element Plus: the input, select, check box, radio, switch, slider, number, rate, tabs and collapse demos of its documentation.
import 'element-plus/dist/index.css';
import ElementPlus from 'element-plus';
import { createApp, reactive } from 'vue/dist/vue.esm-bundler.js';
globalThis.state = reactive({ text: '', value: '', many: [], check: false, radio: '1', toggle: false, volume: 30, num: 1, rate: 0, tab: 'first', open: '' });
createApp({
  setup: () => ({ state }),
  template: `<div style="width:500px"><el-input v-model="state.text" placeholder="Please input" />
  <el-select v-model="state.value" aria-label="Option" placeholder="Select"><el-option v-for="n in 4" :key="n" :label="'Option' + n" :value="'o' + n" /></el-select>
  <el-select v-model="state.many" multiple aria-label="Several" placeholder="Select several"><el-option v-for="n in 3" :key="n" :label="'Item' + n" :value="'i' + n" /></el-select>
  <el-checkbox v-model="state.check" label="Option A" /><el-radio-group v-model="state.radio"><el-radio value="1">Radio 1</el-radio><el-radio value="2">Radio 2</el-radio></el-radio-group>
  <el-switch v-model="state.toggle" aria-label="Delivery" /><el-slider v-model="state.volume" aria-label="Volume" /><el-input-number v-model="state.num" aria-label="Amount" :min="1" :max="10" /><el-rate v-model="state.rate" aria-label="Stars" />
  <el-tabs v-model="state.tab"><el-tab-pane label="User" name="first">User</el-tab-pane><el-tab-pane label="Config" name="second">Config</el-tab-pane></el-tabs>
  <el-collapse v-model="state.open" accordion><el-collapse-item title="Consistency" name="1">Same</el-collapse-item></el-collapse></div>`,
}).use(ElementPlus).mount('#main');

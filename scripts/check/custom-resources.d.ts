import type { HorizontalPodAutoscalerBehavior } from 'kubernetes-types/autoscaling/v2';
import type { ObjectMeta } from 'kubernetes-types/meta/v1';

/** KEDA 2, as far as deploy/kubernetes/ uses it: written after its definitions of custom resources. */
export interface ScaledObject {
  readonly apiVersion: 'keda.sh/v1alpha1';
  readonly kind: 'ScaledObject';
  readonly metadata: ObjectMeta;
  readonly spec: {
    readonly scaleTargetRef: { readonly apiVersion?: string; readonly kind?: string; readonly name: string };
    readonly pollingInterval?: number;
    readonly cooldownPeriod?: number;
    readonly minReplicaCount?: number;
    readonly maxReplicaCount?: number;
    readonly advanced?: {
      readonly restoreToOriginalReplicaCount?: boolean;
      readonly horizontalPodAutoscalerConfig?: {
        readonly name?: string;
        readonly behavior?: HorizontalPodAutoscalerBehavior;
      };
    };
    readonly triggers: readonly MetricsApiTrigger[];
  };
}

/** All values are texts. */
interface MetricsApiTrigger {
  readonly type: 'metrics-api';
  readonly name?: string;
  readonly metricType?: 'AverageValue' | 'Value';
  readonly metadata: {
    readonly url: string;
    readonly valueLocation: string;
    readonly targetValue: string;
    readonly activationTargetValue?: string;
    readonly authMode?: 'bearer' | 'apiKey' | 'basic' | 'tls';
    readonly format?: 'json' | 'yaml' | 'xml' | 'prometheus';
    readonly unsafeSsl?: 'true' | 'false';
  };
  readonly authenticationRef?: {
    readonly name: string;
    readonly kind?: 'TriggerAuthentication' | 'ClusterTriggerAuthentication';
  };
}

export interface TriggerAuthentication {
  readonly apiVersion: 'keda.sh/v1alpha1';
  readonly kind: 'TriggerAuthentication';
  readonly metadata: ObjectMeta;
  readonly spec: {
    readonly secretTargetRef: readonly { readonly parameter: string; readonly name: string; readonly key: string }[];
  };
}

export interface Kustomization {
  readonly apiVersion: 'kustomize.config.k8s.io/v1beta1';
  readonly kind: 'Kustomization';
  readonly namespace?: string;
  readonly resources: readonly string[];
  readonly configMapGenerator?: readonly { readonly name: string; readonly files: readonly string[] }[];
  readonly images?: readonly { readonly name: string; readonly newName?: string; readonly newTag?: string }[];
}
